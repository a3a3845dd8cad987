import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { readCatalogue } from '../../packages/service/src/app/catalogue/catalogue-text.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { judgeStart } from '../../packages/service/src/app/start/judge-start.ts';
import { CommandError } from '../../packages/service/src/cli/terminal/command-error.ts';
import { type Ask, setUp, type SetupOptions } from '../../packages/service/src/cli/setup/setup-command.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** What `purser setup` writes, read by what reads it at a start. */

const GIVEN = { url: 'https://pay.acme.test', name: 'Acme & Sons $ Pay', email: 'help@acme.test' };
const NOT_FLUSHED = /fsync=off/; // The server of the tests.

let database: TestDatabase;
let folder: string;
before(async () => {
  database = await createTestDatabase({ isEmpty: true });
  folder = mkdtempSync(path.join(os.tmpdir(), 'purser-setup-'));
});
after(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Case {
  readonly options?: SetupOptions;
  readonly databaseUrl?: string | undefined;
  readonly ask?: Ask;
}

async function run(t: TestContext, name: string, { options = GIVEN, databaseUrl, ask }: Case = {}): Promise<string> {
  const print = t.mock.method(console, 'log', () => {});
  try {
    await setUp(path.join(folder, name), options, databaseUrl, ask);
    return print.mock.calls.map(({ arguments: [line] }) => String(line)).join('\n');
  } finally {
    print.mock.restore();
  }
}

/** The settings as a shell reads them, with files that are not installed yet. */
function settingsIn(name: string): Record<string, string> {
  const file = path.join(folder, name, 'purser.env');
  const said = execFileSync('/bin/sh', ['-c', `set -a; . ${file}; env -0`], { env: {}, encoding: 'utf8' });
  const pairs = said.split('\0').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  const read = Object.fromEntries(pairs.filter(([key = '']) => /^(?:PURSER_|HOST|PORT|DATABASE_URL)/.test(key)));
  return { ...read, PURSER_CATALOGUE: path.join(folder, name, 'catalogue.json'), PURSER_DATA_DIR: folder };
}

const SITES = { nginx: ['purser.conf', 'nginx/purser.conf'], caddy: ['Caddyfile', 'caddy/Caddyfile'] } as const;

const lines = (file: string) => readFileSync(file, 'utf8').split('\n').length;

for (const [proxy, [site, sample]] of Object.entries(SITES)) {
  for (const isEmbedded of [true, false]) {
    const kind = `${proxy}-${isEmbedded ? 'embedded' : 'server'}`;
    test(`OP-03 OP-17 setup writes what a start takes: ${kind}`, async (t) => {
      const databaseUrl = isEmbedded ? undefined : database.url;
      const said = await run(t, kind, { options: { ...GIVEN, proxy }, databaseUrl });
      const at = (name: string) => path.join(folder, kind, name);
      assert.equal(statSync(at('purser.env')).mode & 0o777, 0o600);
      const config = readConfig(settingsIn(kind));
      assert.deepEqual(
        [config.operatorName, config.publicUrl, config.databaseUrl],
        [GIVEN.name, GIVEN.url, databaseUrl],
      );
      const left = await judgeStart(config, database.owner, createLog('silent'));
      for (const fault of left) assert.match(fault, NOT_FLUSHED);
      assert.equal(NOT_FLUSHED.test(said), !isEmbedded, said);
      assert.deepEqual(
        Object.values(readCatalogue(config).file.providers).map(({ kind: of }) => of),
        ['openai-compatible'],
      );
      assert.match(readFileSync(at(site), 'utf8'), /^(?: *server_name )?pay\.acme\.test/m);
      assert.doesNotMatch(readFileSync(at(site), 'utf8'), /pay\.example\.com|\/etc\/ssl\/purser/);
      const unit = readFileSync(path.join(ROOT, 'deploy/systemd/purser.service'), 'utf8');
      assert.equal(readFileSync(at('purser.service'), 'utf8'), unit);
      const wrapper = readFileSync(path.join(ROOT, 'deploy/systemd/purserctl'), 'utf8');
      assert.deepEqual(
        [readFileSync(at('purserctl'), 'utf8'), statSync(at('purserctl')).mode & 0o777],
        [wrapper, 0o755],
      );
      assert.equal(lines(at(site)), lines(path.join(ROOT, 'deploy', sample)));
      assert.doesNotMatch(said, new RegExp(settingsIn(kind)['PURSER_SECRET']?.replaceAll(/[+/=]/g, '.') ?? ''));
    });
  }
}

test('OP-17 setup changes nothing that exists without --replace, and keeps the secret', async (t) => {
  await run(t, 'again');
  const file = path.join(folder, 'again/purser.env');
  const { PURSER_SECRET: secret } = settingsIn('again');
  assert.match(await run(t, 'again'), /purser\.env is as it should be/);
  appendFileSync(file, 'SMTP_URL=smtp://mail.acme.test:587\n');
  const text = readFileSync(file, 'utf8');
  await assert.rejects(run(t, 'again', { options: { ...GIVEN, email: 'new@acme.test' } }), (fault) => {
    assert.ok(fault instanceof CommandError);
    assert.match(
      fault.message,
      /purser\.env exists and differs in SMTP_URL, PURSER_SUPPORT_EMAIL\.|PURSER_SUPPORT_EMAIL, SMTP_URL\./,
    );
    return !fault.message.includes(secret ?? '');
  });
  assert.equal(readFileSync(file, 'utf8'), text);
  await run(t, 'again', { options: { ...GIVEN, email: 'new@acme.test', replace: true } });
  const { PURSER_SECRET: kept, PURSER_SUPPORT_EMAIL: email } = settingsIn('again');
  assert.deepEqual([kept, email], [secret, 'new@acme.test']);
  assert.equal(readFileSync(`${file}.before`, 'utf8'), text);
  assert.equal(statSync(`${file}.before`).mode & 0o777, 0o600);
  await run(t, 'again', { options: { ...GIVEN, email: 'third@acme.test', replace: true } });
  assert.equal(readFileSync(`${file}.before`, 'utf8'), text, 'what the first run kept stays');
  assert.match(readFileSync(`${file}.before-2`, 'utf8'), /new@acme\.test/);
});

for (const [what, options, refusal] of [
  ['no address', { ...GIVEN, url: undefined }, /^--url is missing\./],
  ['an address that is none', { ...GIVEN, url: 'pay' }, /^--url must be an address/],
  ['an address without TLS', { ...GIVEN, url: 'http://pay.acme.test' }, /PURSER_PUBLIC_URL/],
  [
    'the address of the sample',
    { ...GIVEN, url: 'https://pay.example.com' },
    /still has the value of the guide's sample/,
  ],
  ['another proxy', { ...GIVEN, proxy: 'squid' }, /^--proxy must be nginx or caddy/],
  ['a name with a quote', { ...GIVEN, name: "Anna's" }, /^PURSER_OPERATOR_NAME must have no quote/],
] as const) {
  test(`OP-03 setup writes nothing for ${what}`, async (t) => {
    await assert.rejects(
      run(t, 'refused', { options }),
      (fault) => fault instanceof CommandError && refusal.test(fault.message),
    );
    assert.ok(!existsSync(path.join(folder, 'refused')));
  });
}

test('OP-17 setup asks a person for what is missing', async (t) => {
  const answers = [GIVEN.url, GIVEN.name, GIVEN.email, 'caddy', ''];
  await run(t, 'asked', { options: {}, ask: async () => answers.shift() ?? assert.fail('it asks too much') });
  assert.deepEqual(readdirSync(path.join(folder, 'asked')).toSorted(), [
    'Caddyfile',
    'catalogue.json',
    'purser.env',
    'purser.service',
    'purserctl',
  ]);
});
