import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ConfigError, readConfig } from '#app/settings/config.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-config-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function read(environment: Readonly<Record<string, string>>) {
  return readConfig({ PURSER_DATA_DIR: directory, ...environment });
}

const PRODUCTION = {
  PURSER_ENV: 'production',
  PURSER_SECRET: 'q2Vd0sXk9mB1yTfL7hRzWcN4aUjE8pGi',
  PURSER_PUBLIC_URL: 'https://purser.test',
  PURSER_CATALOGUE: 'catalogue.json',
};

function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    read({ ...PRODUCTION, ...environment });
    return [];
  } catch (fault) {
    assert.ok(fault instanceof ConfigError);
    return fault.message.split('\n');
  }
}

test('OP-03 production refuses placeholder and guessable secrets without quoting them', () => {
  const guide = readFileSync(
    fileURLToPath(new URL('../../../../../docs/guides/operator/settings.md', import.meta.url)),
    'utf8',
  );
  const placeholder = /^PURSER_SECRET=(.+)$/m.exec(guide)?.[1] ?? '';
  for (const [secret, says] of [
    ['', /PURSER_SECRET is required in production\./],
    [placeholder, /PURSER_SECRET is still the placeholder of the operator's guide/],
    [`${placeholder}-and-more`, /PURSER_SECRET is still the placeholder of the operator's guide/],
    ['q2Vd0sXk9mB1yTfL7hRzWcN4aUjE8pG', /PURSER_SECRET must have 32 bytes or more\./],
    ['a'.repeat(32), /PURSER_SECRET must be random/],
    ['abcdefg'.repeat(9), /PURSER_SECRET must be random/],
    ['correct horse battery '.repeat(3), /PURSER_SECRET must be random/],
  ] as const) {
    if (secret !== '') {
      const [fault] = faultsOf({ PURSER_SECRET_ALSO: secret });
      assert.match(fault?.replace('PURSER_SECRET_ALSO', 'PURSER_SECRET') ?? '', says);
    }
    const faults = faultsOf({ PURSER_SECRET: secret });
    assert.equal(faults.length, 1, secret);
    assert.match(faults[0] ?? '', says);
    assert.match(faults[0] ?? '', /Make one with `openssl rand -base64 48`\.$/);
    if (secret !== '') assert.ok(!(faults[0] ?? '').includes(secret));
  }
  for (let round = 0; round < 1_000; round += 1) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const secret = randomBytes(encoding === 'hex' ? 16 : 32).toString(encoding);
      assert.deepEqual(faultsOf({ PURSER_SECRET: secret }), [], secret);
    }
  }
});

test('OP-13 the second secret is optional but must differ', () => {
  const [one, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const same = faultsOf({ PURSER_SECRET: one, PURSER_SECRET_ALSO: one });
  assert.deepEqual(same, [
    'PURSER_SECRET_ALSO must be another secret than PURSER_SECRET: the former one or the coming one.',
  ]);
  const both = read({ ...PRODUCTION, PURSER_SECRET: one, PURSER_SECRET_ALSO: other });
  assert.deepEqual([both.secret.toString(), both.secretAlso?.toString()], [one, other]);
  assert.equal(read({ ...PRODUCTION, PURSER_SECRET: one }).secretAlso, undefined);
});

test('OP-03 production needs a public https URL unless local', () => {
  for (const [url, says] of [
    ['', /PURSER_PUBLIC_URL is required in production\. Set it to the address that people open/],
    ['http://pay.example.com', /PURSER_PUBLIC_URL must be https in production/],
    ['http://127.0.0.1.example.com', /PURSER_PUBLIC_URL must be https in production/],
    ['ftp://pay.example.com', /PURSER_PUBLIC_URL must be an http or https URL/],
  ] as const) {
    const faults = faultsOf({ PURSER_PUBLIC_URL: url });
    assert.equal(faults.length, 1, url);
    assert.match(faults[0] ?? '', says);
  }
  for (const url of ['https://pay.example.com/x/', 'http://localhost:8787', 'http://127.0.0.1:1', 'http://[::1]:1']) {
    assert.deepEqual(faultsOf({ PURSER_PUBLIC_URL: url }), [], url);
  }
  assert.equal(read({ PURSER_PUBLIC_URL: 'http://pay.example.com' }).publicUrl, 'http://pay.example.com');
});

function publicUrlOf(set: Readonly<Record<string, string>>): string {
  return read({ ...PRODUCTION, PURSER_ENV: '', PURSER_PUBLIC_URL: '', PORT: '8080', ...set }).publicUrl;
}

test('CP-06 a local service is named localhost, for passkeys', () => {
  assert.equal(publicUrlOf({}), 'http://localhost:8080');
  assert.equal(publicUrlOf({ HOST: '127.0.0.1' }), 'http://127.0.0.1:8080');
  assert.equal(publicUrlOf({ HOST: '::1' }), 'http://[::1]:8080');
});

test('OP-03 production lists every fault at once', () => {
  const faults = faultsOf({ PURSER_SECRET: 'a'.repeat(32), PURSER_PUBLIC_URL: '', PURSER_CATALOGUE: '', PORT: 'x' });
  assert.deepEqual(faults.map((fault) => /^\w+/.exec(fault)?.[0] ?? '').toSorted(), [
    'PORT',
    'PURSER_CATALOGUE',
    'PURSER_PUBLIC_URL',
    'PURSER_SECRET',
  ]);
});

test('OP-03 failpoints are read in development, none by default', () => {
  assert.equal(read({}).failpoint, undefined);
  const { failpoint } = read({ PURSER_FAILPOINT: 'lane.settle-answered:3:stop' });
  assert.deepEqual(failpoint, { name: 'lane.settle-answered', hit: 3, act: 'stop' });
});

test('OP-02 a failpoint with an unknown name or action is refused', () => {
  for (const value of ['nowhere:1:kill', 'chat.arrived:0:kill', 'chat.arrived:1:explode', 'chat.arrived']) {
    assert.throws(() => read({ PURSER_FAILPOINT: value }), /PURSER_FAILPOINT must look like/);
  }
});

test('OP-03 production refuses a failpoint', () => {
  assert.equal(read(PRODUCTION).failpoint, undefined);
  assert.throws(() => read({ ...PRODUCTION, PURSER_FAILPOINT: 'chat.arrived:1:kill' }), ConfigError);
});

test('WA-10 the lease is 15 s or shorter', () => {
  assert.equal(read({}).leaseMs, 15_000);
  assert.equal(read({ PURSER_LEASE_SECONDS: '2' }).leaseMs, 2_000);
  for (const value of ['0', '1', '16', '2.5', 'long']) {
    assert.throws(
      () => read({ PURSER_LEASE_SECONDS: value }),
      /PURSER_LEASE_SECONDS must be a whole number from 2 to 15/,
    );
  }
});

test('WA-10 production refuses a lease shorter than statements may wait', () => {
  assert.equal(read({ ...PRODUCTION, PURSER_LEASE_SECONDS: '10' }).leaseMs, 10_000);
  assert.throws(
    () => read({ ...PRODUCTION, PURSER_LEASE_SECONDS: '9' }),
    /PURSER_LEASE_SECONDS must be a whole number from 10 to 15/,
  );
});

test('CP-05 an operator needs both of two settings', () => {
  const operator = { PURSER_OPERATOR_EMAIL: 'a@example.test', PURSER_OPERATOR_PASSWORD: 'long enough' };
  assert.equal(read({}).operator, undefined);
  assert.deepEqual(read(operator).operator, { email: 'a@example.test', password: 'long enough' });
  for (const [change, says] of [
    [{ PURSER_OPERATOR_EMAIL: '' }, /PURSER_OPERATOR_EMAIL must be/],
    [{ PURSER_OPERATOR_EMAIL: 'nobody' }, /PURSER_OPERATOR_EMAIL must be/],
    [{ PURSER_OPERATOR_PASSWORD: '' }, /PURSER_OPERATOR_PASSWORD must have/],
    [{ PURSER_OPERATOR_PASSWORD: 'weak' }, /PURSER_OPERATOR_PASSWORD must have/],
    [{ PURSER_OPERATOR_PASSWORD: 'x'.repeat(257) }, /PURSER_OPERATOR_PASSWORD must have/],
  ] as const) {
    for (const environment of ['development', 'production']) {
      assert.throws(
        () => read({ ...operator, ...change, PURSER_ENV: environment }),
        (fault) => fault instanceof ConfigError && says.test(fault.message) && !/weak|xxx/.test(fault.message),
      );
    }
  }
});

function formatOf(environment: Readonly<Record<string, string>>, isTerminal: boolean): string {
  return readConfig({ PURSER_DATA_DIR: directory, ...environment }, isTerminal).logFormat;
}

test('OP-06 the log is text at a terminal, otherwise JSON, unless set', () => {
  assert.deepEqual([formatOf({}, true), formatOf({}, false)], ['text', 'json']);
  assert.deepEqual([formatOf(PRODUCTION, true), formatOf(PRODUCTION, false)], ['json', 'json']);
  assert.equal(formatOf({ PURSER_LOG_FORMAT: 'json' }, true), 'json');
  assert.equal(formatOf({ ...PRODUCTION, PURSER_LOG_FORMAT: 'text' }, false), 'text');
  assert.deepEqual(faultsOf({ PURSER_LOG_FORMAT: 'yaml', PURSER_LOG_ONE_IN: '0' }), [
    'PURSER_LOG_FORMAT must be one of auto, json, text.',
    'PURSER_LOG_ONE_IN must be a whole number from 1 to 10000.',
  ]);
});
