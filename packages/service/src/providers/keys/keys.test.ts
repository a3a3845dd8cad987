import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { providerSchema } from '@purser/contract/catalogue-providers.ts';
import { createCommandKey } from '#providers/keys/command-key.ts';
import { createFetchedKey } from '#providers/keys/fetched-key.ts';
import { createFileKey } from '#providers/keys/file-key.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createProviderRegistry } from '#providers/registry.ts';
import { waitUntil } from '../../../../../tests/support/wait-until.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-keys-'));
after(() => rmSync(folder, { recursive: true }));

/** A clock that the test moves. */
function manualClock() {
  let now = 1_000;
  return { nowMs: () => now, pass: (ms: number) => void (now += ms) };
}

function isOutage(words: RegExp) {
  return (fault: unknown) => fault instanceof UpstreamError && fault.kind === 'outage' && words.test(fault.message);
}

test('MO-11 a changed key file is read again, a missing one is an outage', async () => {
  const clock = manualClock();
  const file = path.join(folder, 'key');
  const key = createFileKey('a', file, clock);
  await assert.rejects(
    async () => key.current(),
    isOutage(/^There is no key `a` at present: its file cannot be read\.$/),
  );
  writeFileSync(file, 'first\n');
  assert.throws(() => key.current(), UpstreamError, 'a file is not opened for each of many calls');
  clock.pass(500);
  assert.equal(await key.current(), 'first');
  assert.equal(key.current(), 'first', 'a key that was just read is there at once');
  writeFileSync(`${file}.new`, 'second');
  renameSync(`${file}.new`, file);
  clock.pass(1_000);
  assert.equal(await key.current(), 'second');
  for (const text of ['', 'two\nlines', 'sp ace', 'ümlaut', 'x'.repeat(20_000)]) {
    writeFileSync(file, text);
    clock.pass(1_000);
    await assert.rejects(async () => key.current(), isOutage(/one line of visible|too large/), text.slice(0, 20));
  }
});

test('MO-11 calls share one key fetch, and none uses an ended key', async () => {
  const clock = manualClock();
  let fetches = 0;
  let gate = Promise.withResolvers<string>();
  const key = createFetchedKey({
    name: 'a',
    isToken: true,
    fetch: async () => {
      fetches += 1;
      return { key: await gate.promise, lifeMs: 60_000 };
    },
    intervalMs: 5_000,
    clock,
  });
  const waiting = [key.current(), key.current()];
  gate.resolve('one');
  assert.deepEqual([await waiting[0], await waiting[1]], ['one', 'one']);
  gate = Promise.withResolvers();
  clock.pass(45_000);
  assert.deepEqual([key.current(), key.current(), fetches], ['one', 'one', 2]);
  gate.reject(new Error('SECRET'));
  await new Promise(setImmediate);
  clock.pass(14_999);
  assert.equal(key.current(), 'one', 'a renewal that failed takes no key away');
  clock.pass(1);
  await assert.rejects(async () => key.current(), isOutage(/: it could not be fetched\.$/));
  const before = fetches;
  assert.throws(() => key.current(), isOutage(/could not be fetched/));
  assert.equal(fetches, before, 'a failure is not repeated for every call');
  gate = Promise.withResolvers();
  gate.resolve('two');
  clock.pass(5_000);
  assert.equal(await key.current(), 'two');
});

test('MO-11 a refused key is refetched every few seconds at most', async () => {
  const clock = manualClock();
  let count = 0;
  const fetch = () => Promise.resolve({ key: `key-${(count += 1)}`, lifeMs: 60_000 });
  const key = createFetchedKey({ name: 'a', isToken: false, fetch, intervalMs: 5_000, clock });
  assert.equal(await key.current(), 'key-1');
  key.refused('key-1');
  assert.equal(key.current(), 'key-1');
  clock.pass(5_000);
  assert.equal(await key.current(), 'key-2');
  key.refused('key-1');
  clock.pass(5_000);
  assert.equal(key.current(), 'key-2', 'an older key was refused, not this one');
});

function commandKey(script: string, words: readonly string[] = [], runMsMax = 60_000) {
  const command = [process.execPath, '-e', script, ...words] as const;
  const environment = { MINE: 'm' };
  return createCommandKey({
    name: 'c',
    command: [...command],
    seconds: 60,
    environment,
    clock: manualClock(),
    runMsMax,
  });
}

test('MO-11 a command prints the key without shell or other variables', async () => {
  const key = commandKey('console.log([...process.argv.slice(1), Object.keys(process.env).sort()].join("|"))', [
    '$HOME;`x`',
  ]);
  assert.equal(await key.current(), '$HOME;`x`|MINE');
});

test('MO-11 a failing command is an outage that hides its output', async () => {
  const cases = [
    ['console.log("SECRET"); console.error("SECRET"); process.exit(3)', /its command ended with status 3\.$/],
    ['console.log("two\\nlines")', /not one line/],
    ['setTimeout(() => {}, 60000)', /its command took more than 0.05 s\.$/],
  ] as const;
  for (const [script, words] of cases) {
    const runMsMax = script.startsWith('setTimeout') ? 50 : 60_000;
    await assert.rejects(async () => commandKey(script, [], runMsMax).current(), isOutage(words));
  }
  const missing = shellKey(['/nowhere/x']);
  await assert.rejects(async () => missing.current(), isOutage(/its command cannot be started\.$/));
});

test('MO-11 what a command has started ends with it', async () => {
  const file = path.join(folder, 'pid');
  const key = shellKey(['/bin/sh', '-c', `sleep 60 & echo $! > ${file}; cat /dev/zero`]);
  await assert.rejects(async () => key.current(), isOutage(/its command printed too much\.$/));
  const pid = readFileSync(file, 'utf8').trim();
  const isOver = () => !existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  await waitUntil('it has ended', isOver);
});

function shellKey(command: readonly [string, ...string[]]) {
  return createCommandKey({ name: 'c', command, seconds: 60, environment: process.env, clock: manualClock() });
}

test('CC-16 a call older than the pool’s growth finds a client', (t) => {
  const keys = createProviderKeys({
    providerKeys: { one: { hosts: ['api.acme.test'], env: 'ONE' } },
    readEnvironment: () => 'sk-one',
    outboundEnvironment: {},
    clock: manualClock(),
  });
  const registry = createProviderRegistry({ simulatorUrl: undefined, keys, environment: {} });
  t.after(registry.close);
  const baseUrl = 'https://api.acme.test/v1';
  const before = providerSchema.parse({ kind: 'openai-compatible', baseUrl, apiKeys: ['one'] });
  assert.equal(registry.clientOf(before, 2), registry.clientOf(before, 0));
});
