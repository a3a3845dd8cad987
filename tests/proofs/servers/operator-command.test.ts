import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { backUp, goOnWith, openRunning, restoreInto, startsOn, withChanged } from './backups.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { PASSWORD, type Person, personWith } from '../../support/control.ts';
import { makeOpenDirectory } from '../../support/embedded-harness.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { runToEnd, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { startStripeServer } from '../../support/stripe-server.ts';
import { trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The first operators: created from settings at the start, or by a command beside a running service. */

const EMAIL = 'first@example.test';

let options: Parameters<typeof startServiceProcess>[0];
let service: ServiceProcess;

before(async () => {
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-operator-'));
  options = { dataDirectory, catalogue: catalogueAt('http://127.0.0.1:9/v1') };
  service = await start(PASSWORD);
});

after(async () => {
  await service.stop();
  rmSync(options.dataDirectory, { recursive: true, force: true });
});

function start(password: string, email = EMAIL): Promise<ServiceProcess> {
  const environment = {
    PURSER_OPERATOR_EMAIL: email,
    PURSER_OPERATOR_PASSWORD: password,
    PURSER_BACKUP_DIR: backups(),
  };
  return startServiceProcess({ ...options, environment });
}

function backups(): string {
  return path.join(options.dataDirectory, 'backups');
}

function create(words: readonly string[], input: string) {
  return runToEnd({ ...options, input }, 'operator', 'create', ...words);
}

async function signIn(email: string, password: string): Promise<Person> {
  const nobody = personWith(service.url, undefined);
  const { sessionToken } = await nobody.get(200, 'POST', '/sessions', { email, password });
  return personWith(service.url, String(sessionToken));
}

async function accountOf(email: string, by: Person): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { accounts } = await by.get(200, 'GET', '/operator/accounts');
  return (accounts as Record<string, unknown>[]).find((account) => account['email'] === email);
}

test('CP-05 a start creates the operator named in the settings', async () => {
  const operator = await signIn(EMAIL, PASSWORD);
  const account = await accountOf(EMAIL, operator);
  assert.equal(account?.['role'], 'operator');
  const subject = String(account?.['accountId']);
  assert.deepEqual(await trailOf(operator, subject), [
    { actor: 'settings', action: 'account.create', subject, reason: null },
  ]);
});

test('CP-05 the command creates an operator beside a service', async () => {
  const email = 'New@Example.Test';
  const { status, said } = await create(['--email', email, '--name', 'New One'], 'a password of mine\n');
  assert.equal(status, 0, said);
  assert.match(said, /new@example\.test is now an operator/);
  assert.ok(!said.includes('a password of mine'));
  const operator = await signIn(email, 'a password of mine');
  const account = await accountOf('new@example.test', operator);
  assert.deepEqual([account?.['name'], account?.['role']], ['New One', 'operator']);
  const subject = String(account?.['accountId']);
  assert.deepEqual(await trailOf(operator, subject), [
    { actor: 'command-line', action: 'account.create', subject, reason: null },
  ]);
});

test('CP-06 a command prints the first second factor’s code', async () => {
  const { status, said } = await runToEnd(options, 'operator', 'enrol', '--email', EMAIL);
  assert.equal(status, 0, said);
  assert.match(said, /^[0-9a-z]{5}-[0-9a-z]{5}$/m);
  const operator = await signIn(EMAIL, PASSWORD);
  const subject = String((await accountOf(EMAIL, operator))?.['accountId']);
  assert.deepEqual((await trailOf(operator, subject))[0], {
    actor: 'command-line',
    action: 'account.enrolment-code',
    subject,
    reason: null,
  });
});

test('CP-05 the command reports a known e-mail and changes nothing', async () => {
  const again = await create(['--email', EMAIL.toUpperCase()], 'another password\n');
  assert.deepEqual([again.status, /already has an account\. Nothing was changed/.test(again.said)], [1, true]);
  const operator = await signIn(EMAIL, PASSWORD);
  await operator.get(201, 'POST', '/operator/accounts', { email: 'o@example.test', password: PASSWORD, role: 'owner' });
  assert.equal((await create(['--email', 'o@example.test'], 'another password\n')).status, 1);
  assert.equal((await accountOf('o@example.test', operator))?.['role'], 'owner');
});

test('CP-05 a password on the command line is refused', async () => {
  const { status, said } = await create(['--email', 'n@example.test', '--password', PASSWORD], '');
  assert.equal(status, 2, said);
  assert.match(said, /Unknown option '--password'/);
  assert.ok(!said.includes(PASSWORD) && !/\n\s+at /.test(said), said);
  assert.equal(await accountOf('n@example.test', await signIn(EMAIL, PASSWORD)), undefined);
});

test('CP-09 the command checks a running service’s audit trail', async () => {
  const operator = await signIn(EMAIL, PASSWORD);
  const head = await waitUntil('all entries have their line', async () => {
    const { line, hash, waiting } = await operator.get(200, 'GET', '/operator/audit/head');
    return waiting === 0 && `${String(line)}:${String(hash)}`;
  });
  const checked = await runToEnd(options, 'audit', 'check', '--head', head);
  assert.equal(checked.status, 0, checked.said);
  assert.ok(checked.said.includes(' 0 faults') && checked.said.includes(`head ${head}`), checked.said);
  const wrong = await runToEnd(options, 'audit', 'check', '--head', head.replace(/:.*/, `:${'0'.repeat(64)}`));
  assert.deepEqual([wrong.status, /does not have the hash that you gave/.test(wrong.said)], [1, true], wrong.said);
});

test('CP-05 a later start leaves the operator unchanged', async () => {
  await service.stop();
  service = await start('quite another password');
  await signIn(EMAIL, PASSWORD);
  const refused = await personWith(service.url, undefined).ask('POST', '/sessions', {
    email: EMAIL,
    password: 'quite another password',
  });
  assert.equal(refused.status, 401);
  assert.ok(!service.said().includes('is no operator'));
});

test('CP-05 a start promotes no owner’s account to operator', async () => {
  await service.stop();
  service = await start(PASSWORD, 'o@example.test');
  assert.match(service.said(), /The account of PURSER_OPERATOR_EMAIL exists but is not an operator/);
  const refused = await (await signIn('o@example.test', PASSWORD)).ask('GET', '/operator/audit');
  assert.equal(refused.status, 403);
});

test('OP-08 the doctor examines a service beside it', async () => {
  const environment = { PURSER_OPERATOR_TOKEN: 'a token of mine' };
  const { status, said } = await runToEnd({ ...options, environment }, 'doctor');
  for (const text of [
    'ok   database: The database is responding: PostgreSQL',
    'ok   secret: PURSER_SECRET is the secret of this database.',
    'ok   gateways: 1 gateway has a lease.',
  ]) {
    assert.ok(said.includes(text), `${text} is not in ${said}`);
  }
  assert.equal(status, said.includes('BAD ') ? 1 : 0);
  assert.ok(!said.includes('a token of mine'));
  const misspelt = await runToEnd({ ...options, environment: { PURSER_PROXY_HOP: '1' } }, 'doctor');
  assert.match(misspelt.said, /BAD {2}settings: PURSER_PROXY_HOP is not a setting\. Did you mean PURSER_PROXY_HOPS\?/);
  assert.equal(misspelt.status, 1);
});

test('OP-08 the doctor calls outside services, revealing no secret', async (t) => {
  const [stripe, mail] = await Promise.all([
    startStripeServer(),
    startMailServer({ account: { user: 'purser', password: 'right' } }),
  ]);
  t.after(() => Promise.all([stripe.close(), mail.close()]));
  const environment = {
    PURSER_PUBLIC_URL: service.url,
    PURSER_PROXY_HOPS: '1',
    PURSER_STRIPE_SECRET_KEY: stripe.secretKey,
    PURSER_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    PURSER_STRIPE_API_BASE: stripe.url,
    SMTP_URL: mail.url.replace('right', 'hidden-word'),
    PURSER_MAIL_FROM: 'pay@example.test',
  };
  const { said } = await runToEnd({ ...options, environment }, 'doctor', '--json');
  const { findings } = JSON.parse(said) as { readonly findings: readonly Record<'check' | 'level' | 'what', string>[] };
  const levels = Object.fromEntries(findings.map(({ check, level }) => [check, level]));
  const found = (check: string) => findings.find((one) => one.check === check)?.what;
  assert.equal(levels['public-address'], 'good', said);
  assert.equal(levels['same-database'], 'good', said);
  // The gateway believes nobody, and no proxy is there. The doctor's own setting is wrong.
  assert.match(String(found('forwarding')), /passes 0 proxies, and PURSER_PROXY_HOPS is 1/);
  assert.equal(levels['roles'], 'good', said);
  assert.equal(levels['processor'], 'good', said);
  assert.match(String(found('mail-server')), /cannot be used: EAUTH 535/);
  assert.match(String(found('providers')), /cannot be reached from here: upstream \(ECONNREFUSED\)/);
  for (const secret of [stripe.secretKey, stripe.webhookSecret, 'hidden-word']) assert.ok(!said.includes(secret));
  assert.equal(mail.received.length, 0);
  const unusable = await runToEnd({ ...options, environment: { PURSER_PROXY_HOPS: 'x' } }, 'doctor', '--json');
  assert.equal(unusable.status, 1);
  assert.match(unusable.said, /"what": "PURSER_PROXY_HOPS must be a whole number/);
});

test('OP-09 a restore goes back to a moment', async (t) => {
  const { dataDirectory } = options;
  const server = await openRunning(dataDirectory);
  t.after(() => server.pool.end());
  const { backup, isLogKept } = await backUp(server, dataDirectory, backups());
  assert.equal(isLogKept, true);
  await server.pool.query(`create table public.words as select 'before' as word`);
  const { rows } = await server.pool.query<{ now: Date }>('select clock_timestamp() + interval $$1 ms$$ as now');
  await server.pool.query(`select pg_sleep(0.01); insert into public.words values ('after')`);
  const target = makeOpenDirectory(t);
  const of = {
    backups: backups(),
    dataDirectory: target,
    atMs: rows[0]?.now.getTime(),
    alsoLog: path.join(dataDirectory, 'postgres', 'pg_wal') as string | undefined,
    secret: readFileSync(path.join(dataDirectory, 'secret')),
  };
  const restore = (over: Partial<typeof of> = {}) =>
    restoreInto({ ...of, ...over }, async (owner) => {
      const words = await owner.query<{ word: string }>('select word from public.words');
      return { words: words.rows.map(({ word }) => word), ...(await startsOn(owner)) };
    });
  const inBackup = (name: string) => path.join(backup.folder, name);
  await assert.rejects(restore({ secret: Buffer.alloc(32, 1) }), /belongs to another PURSER_SECRET/);
  await assert.rejects(restore({ atMs: 0 }), /The oldest backup ends at/);
  await withChanged(
    inBackup('backup.json'),
    (text) => String(text).replace(/"18\.[^"]*"/, '"17.2"'),
    () => assert.rejects(restore(), /was made by PostgreSQL 17\.2/),
  );
  await withChanged(
    inBackup('base.tar.gz'),
    (bytes) => bytes.subarray(0, bytes.length / 2),
    () => assert.rejects(restore(), /base\.tar\.gz is damaged|ends too early/),
  );
  const changed = readFileSync(inBackup('backup_manifest'), 'utf8').replace(/("Checksum": ")[0-9a-f]{8}/, '$100000000');
  await withChanged(
    inBackup('backup_manifest'),
    () => changed,
    () =>
      withChanged(
        inBackup('backup.json'),
        (text) =>
          String(text).replace(backup.record.manifestDigest, createHash('sha256').update(changed).digest('hex')),
        () => assert.rejects(restore(), /1 files of the backup are not as they were made/),
      ),
  );
  assert.ok(!readdirSync(target).includes('postgres'), 'nothing that looks like a database is left');
  const seen = await restore();
  assert.deepEqual([seen?.words, seen?.after, seen?.differences], [['before'], 'starts', 0]);
  assert.match(
    String(seen?.before),
    /This database came out of the backup .* Then run `npm run purser -- backup accept`/,
  );
  assert.deepEqual(readdirSync(target).toSorted(), ['postgres', 'postgres.secret']);
  await assert.rejects(restore(), /There is a database in/);
  const archived = () => readdirSync(path.join(path.dirname(path.dirname(backup.folder)), 'wal'));
  assert.ok(!archived().some((name) => name.startsWith('00000002')), 'a copy keeps its log to itself');
  await backUp(server, dataDirectory, backups()); // With what the restore gave up.
  await goOnWith(target, backups(), `insert into public.words values ('later')`);
  const again = await restore({ dataDirectory: makeOpenDirectory(t), atMs: undefined, alsoLog: undefined });
  assert.deepEqual(again?.words, ['before', 'later'], 'what a restore gave up stays given up');
});

function compareFile(command: 'bill' | 'reconcile', file: string) {
  const bill = command === 'bill' ? ['--provider', 'upstream', '--format', 'openai', '--dollar', '0.92'] : [];
  const named = path.join(options.dataDirectory, file);
  return runToEnd(options, command, named, ...bill, '--from', '2026-09-01', '--to', '2026-10-01');
}

test('CP-16 the commands compare files with the books', async () => {
  const HEAD =
    'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id';
  const item = { amount: { value: 0.06, currency: 'usd' }, line_item: 'gpt-5.4, output' };
  const day = { start_time: 1_788_220_800, end_time: 1_788_307_200, results: [item] };
  const files = {
    'bill.json': JSON.stringify({ data: [day] }),
    'report.csv': `${HEAD}\ntxn_1,2026-09-02 23:59:59,eur,25.00,0.63,24.37,charge,ch_1,pi_1\n`,
    'clean.csv': `${HEAD}\ntxn_2,2026-09-03 10:00:00,eur,-25.00,0.00,-25.00,payout,po_1,\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(options.dataDirectory, name), text);
  const [differs, notBill, report, clean] = await Promise.all([
    compareFile('bill', 'bill.json'),
    compareFile('bill', 'report.csv'),
    compareFile('reconcile', 'report.csv'),
    compareFile('reconcile', 'clean.csv'),
  ]);
  for (const [{ status, said }, expected, words] of [
    [differs, 1, /2026-09-01 gpt-5\.4: billed 55200, ours 0, difference 55200 micros; calls - \/ 0\nbilled 55200, /],
    [notBill, 1, /The bill is not JSON/],
    [report, 1, /line 2: not_in_books \(payment\) pi_1, report 25000000 micros EUR on 2026-09-02\n/],
    [clean, 0, /The report is filed as /],
  ] as const) {
    assert.equal(status, expected, said);
    assert.match(said, words);
    assert.doesNotMatch(said, /\n {4}at /, 'A fault is said without a stack.');
  }
});
