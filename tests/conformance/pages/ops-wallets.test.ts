import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { selectAnyWallets } from '../../../packages/service/src/ledger/overview/operator-queries.ts';
import { newOperator, type Person } from '../../support/control.ts';
import { GROWTH } from '../../support/grown-tables.ts';
import { assertPage, type Browser, IN_CONSOLE, mainOf, openBrowser } from '../../support/page.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { trailOf } from '../../support/trail.ts';
import { walletOwnersOf } from '../../support/people.ts';

const { service, app, newUser } = await setStage({ environment: { PURSER_SECOND_PERSON_MICROS: '50000000' } });
const admin = await newOperator(service);
const newWalletOwner = walletOwnersOf(service);

function browserWith({ token = '' }: Person): Browser {
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', token);
  return browser;
}

const browser = browserWith(admin);

function addressOf(page: string, user: string, more: Readonly<Record<string, string>> = {}): string {
  return `/ops/${page}?${new URLSearchParams({ app: app.appId, user, ...more }).toString()}`;
}

async function entriesOf(user: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { entries } = await admin.get(200, 'GET', `/operator/apps/${app.appId}/wallets/${user}`);
  return entries as readonly Readonly<Record<string, unknown>>[];
}

test('CP-05 an operator finds and pages wallets by every filter', async () => {
  const users: string[] = [];
  for (const balance of [1_000_000, 2_500_001, 3_000_000]) users.push(await newUser(balance));
  const [first = '', second = '', third = ''] = users;
  await admin.get(200, 'POST', `/operator/apps/${app.appId}/wallets/${third}/clawback`, {
    amountMicros: 4_000_000,
    reason: 'stolen card',
    idempotencyKey: 'k',
  });
  const listed = async (query: string) => {
    const page = await browser.open(`/ops/wallets?app=${app.appId}&${query}`);
    assertPage(page, 200, 'Wallets', IN_CONSOLE);
    return users.filter((user) => page.text.includes(`<code>${user}</code>`));
  };
  assert.deepEqual(await listed(''), users);
  assert.deepEqual(await listed('status=suspended'), [third]);
  assert.deepEqual(await listed('status=disconnected'), []);
  assert.deepEqual(await listed(`user=${second}`), [second]);
  assert.deepEqual(await listed('minBalance=2.500001'), [second]);
  assert.deepEqual(await listed('maxBalance=2,50'), [first, third]);
  assert.deepEqual(await listed('before=2020-01-01T00:00'), []);
  assert.deepEqual(await listed('from=2020-01-01T00:00&sort=oldest'), users);
  assert.deepEqual(await listed('minHeld=0.01'), []);
  for (const query of ['minBalance=1.234', 'status=rich', 'from=soon', 'after=x']) {
    assertPage(await browser.open(`/ops/wallets?${query}`), 400, 'Wallets', IN_CONSOLE);
  }
  const seen: unknown[] = [];
  let next: string | null = null;
  do {
    const after = next === null ? '' : `&after=${next}`;
    const path = `/operator/wallets?appId=${app.appId}&limit=2&sort=oldest${after}`;
    const page = (await admin.get(200, 'GET', path)) as { wallets: { userId: string }[]; next: string | null };
    seen.push(...page.wallets.map(({ userId }) => userId));
    ({ next } = page);
  } while (next !== null);
  assert.deepEqual(seen, users);
});

test('CP-05 WA-09 an act’s page previews it, then does it once', async () => {
  const user = await newUser(2_000_000);
  const path = addressOf('wallet-clawback', user, { amount: '2.750001' });
  const shown = await browser.open(path);
  assertPage(shown, 200, 'Claw money back', IN_CONSOLE);
  for (const text of ['€0.750001', '750,001 micros', 'claw_back_receivable', 'Suspended']) {
    assert.ok(shown.text.includes(text), `${text}: ${mainOf(shown)}`);
  }
  assert.equal((await entriesOf(user)).length, 1);
  assertPage(await browser.submit(path, { reason: ' ' }), 400, 'Claw money back', IN_CONSOLE);
  assert.equal((await entriesOf(user)).length, 1);

  const form = { ...browser.fieldsOf(path), reason: 'Stolen card' };
  const [once, twice] = await Promise.all([browser.ask(path, { form }), browser.ask(path, { form })]);
  assert.deepEqual([once.status, twice.status], [303, 303]);
  const booked = await entriesOf(user);
  assert.deepEqual(
    booked.map(({ kind, amountMicros }) => `${String(kind)} ${String(amountMicros)}`),
    ['claw_back_receivable 750001', 'claw_back 2000000', 'contract_credit 2000000'],
  );
  assert.equal((await trailOf(admin, `${app.appId} ${user}`)).length, 1);
  const done = await browser.open(once.headers.get('location') ?? '');
  assertPage(done, 200, user, IN_CONSOLE);
  assert.match(done.text, /The claw-back is booked\. Claw-back: €2\.00 is entry 2\. The balance after it is €0\.00\./);
  assert.ok(
    !(await browser.open(addressOf('wallet', user, { done: 'credit', key: 'made-up' }))).text.includes('booked.'),
  );
});

test('CP-05 an act changed since it was shown is shown again', async () => {
  const user = await newUser(5_000_000);
  const path = addressOf('wallet-refund', user, { amount: '4' });
  assert.doesNotMatch((await browser.open(path)).text, /less than this refund/);
  await admin.get(200, 'POST', `/operator/apps/${app.appId}/wallets/${user}/refund`, {
    amountMicros: 3_000_000,
    reason: 'meanwhile',
    idempotencyKey: 'k',
  });
  const again = await browser.submit(path, { reason: 'As agreed' });
  assertPage(again, 409, 'Refund', IN_CONSOLE);
  assert.match(again.text, /refund_receivable/);
  assert.match(again.text, /The wallet has €2\.00 less than this refund\./);
  assert.equal((await entriesOf(user)).length, 2);
  assertPage(await browser.submit(path, { reason: 'As agreed' }), 200, user, IN_CONSOLE);
  assert.equal((await entriesOf(user)).length, 4);
});

function personPath(act: 'export' | 'delete'): string {
  return `/ops/person-${act}?email=new%40example.test`;
}

/** Exports and deletes a person whose wallets belong to nobody any more. */
async function exportAndDelete(): Promise<void> {
  await browser.open(personPath('export'));
  const file = await browser.submit(personPath('export'), { reason: 'Asked by letter' });
  assert.match(file.text, /^\{"format":"purser-person-1".*"email":"new@example\.test"/);
  await browser.open(personPath('delete'));
  assertPage(await browser.submit(personPath('delete'), { reason: ' ' }), 400, 'Delete this person', IN_CONSOLE);
  const gone = await browser.submit(personPath('delete'), { reason: 'Asked by letter' });
  assert.match(gone.text, /The person was deleted\. Their wallets have no owner now\./);
  assertPage(await browser.open(personPath('delete')), 404, 'Delete this person', IN_CONSOLE);
}

test('CP-05 WA-15 wallets and persons are managed entirely on pages', async () => {
  const submit = async (page: string, user: string, more: Readonly<Record<string, string>>) => {
    const path = addressOf(page, user, more);
    await browser.open(path);
    const form = { ...browser.fieldsOf(path), reason: 'As agreed' };
    // A second press of the button.
    const replies = [await browser.ask(path, { form }), await browser.ask(path, { form })];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [303, 303],
      `${page}: ${replies.map(mainOf).join('')}`,
    );
    return browser.open(replies[0]?.headers.get('location') ?? '');
  };
  assert.match((await submit('wallet-open', 'made-here', { amount: '3', cap: '9' })).text, /The wallet is open/);
  assert.match(
    (await submit('wallet-credit', 'made-here', { amount: '0.000001' })).text,
    /Credit: €0\.000001 is entry 2/,
  );
  await submit('wallet-clawback', 'made-here', { amount: '4' });
  const refused = await browser.open(addressOf('wallet-reinstate', 'made-here'));
  assertPage(refused, 409, 'Reinstate the wallet', IN_CONSOLE);
  const reinstated = await submit('wallet-reinstate', 'made-here', { writeoff: 'yes' });
  assert.match(reinstated.text, /The wallet is no longer suspended/);
  const owner = await newWalletOwner();
  await owner.connect(app, 'made-here');
  assert.ok((await browser.open(addressOf('wallet', 'made-here'))).text.includes(owner.email));

  const move = `/ops/person-move?${new URLSearchParams({ email: owner.email, to: 'new@example.test' }).toString()}`;
  const { owner: db } = service.database;
  await sql(db)`insert into identities.passkeys (credential_id, identity_id, public_key, sign_count)
    select 'a-lost-key', identity_id, '\\x00', 0 from connections.connections where user_id = 'made-here'`;
  const shown = await browser.open(move);
  assertPage(shown, 200, 'Move to another e-mail', IN_CONSOLE);
  assert.match(shown.text, /Sessions that will end: [1-9]\. Passkeys to be removed: 1\./);
  const form = { ...browser.fieldsOf(move), reason: 'Lost the mailbox' };
  for (const reply of [await browser.ask(move, { form }), await browser.ask(move, { form })]) {
    assert.equal(reply.headers.get('location'), '/ops/person?email=new%40example.test&done=moved');
  }
  const person = await browser.open('/ops/person?email=new%40example.test');
  assertPage(person, 200, 'Person', IN_CONSOLE);
  assert.ok(person.text.includes('<code>made-here</code>'));
  assertPage(await browser.open(`/ops/person?email=${owner.email}`), 404, 'Person', IN_CONSOLE);

  const early = await browser.open(personPath('delete'));
  assert.match(mainOf(early), /Wallets to be released: 1/);
  assert.match((await submit('wallet-release', 'made-here', {})).text, /The wallet has no owner now/);
  const acts = (await trailOf(admin, `${app.appId} made-here`)).map(({ action }) => action);
  assert.deepEqual(acts, [
    'wallet.release',
    'wallet.claim',
    'wallet.reinstate',
    'wallet.clawback',
    'wallet.credit',
    'wallet.open',
  ]);
  await exportAndDelete();
  assertPage(await browser.open(addressOf('wallet', 'nobody')), 404, 'No such wallet', IN_CONSOLE);
});

test('CP-07 an act above one person’s amount waits for a second', async () => {
  const user = await newUser(1_000_000);
  const path = addressOf('wallet-credit', user, { amount: '60' });
  assert.match((await browser.open(path)).text, /no other operator could confirm it/);
  await newOperator(service);
  const shown = await browser.open(path);
  assertPage(shown, 200, 'Credit the wallet', IN_CONSOLE);
  for (const text of ['€61.00', 'until a second operator confirms it']) assert.ok(shown.text.includes(text), text);
  const sent = await browser.ask(path, { form: { ...browser.fieldsOf(path), reason: 'Invoice 17' } });
  assert.equal(sent.headers.get('location'), '/ops/pending?done=asked');
  assert.equal((await entriesOf(user)).length, 1);
});

test('CP-07 an operator sees the wallet acts their role allows', async () => {
  const user = await newUser(1);
  for (const [role, acts] of [
    ['support', ['refund']],
    ['finance', ['credit', 'refund', 'clawback']],
  ] as const) {
    const theirs = browserWith(await newOperator(service, role));
    const page = await theirs.open(addressOf('wallet', user));
    assertPage(page, 200, user, IN_CONSOLE);
    const links = [...page.text.matchAll(/href="\/ops\/wallet-(\w+)\?/g)].map(([, act]) => act);
    assert.deepEqual(links, acts, role);
    const credit = await theirs.open(addressOf('wallet-credit', user, { amount: '1' }));
    assert.equal(credit.status, role === 'finance' ? 200 : 403);
  }
});

test('CP-05 a list of wallets reads one index page', async (t) => {
  const all = {
    appId: undefined,
    userId: undefined,
    status: undefined,
    openedFromMs: undefined,
    openedBeforeMs: undefined,
    minHeld: undefined,
    minBalance: undefined,
    maxBalance: undefined,
  };
  await service.database.owner.query(GROWTH['ledger.wallets']);
  await sql(service)`analyze ledger.wallets`;
  const client = await service.database.owner.connect();
  t.after(() => client.release(true));
  await client.query('begin'); // So that the counts are those of this connection.
  const readSoFar = async () => {
    const rows = await sql<{ scanned: bigint; fetched: bigint }>(client)`
      select seq_tup_read as scanned, idx_tup_fetch as fetched from pg_stat_xact_user_tables
      where relid = 'ledger.wallets'::regclass`;
    return rows[0] ?? { scanned: 0n, fetched: 0n };
  };
  const read = async (filter: Partial<Parameters<typeof selectAnyWallets>[1]>) => {
    const before = await readSoFar();
    const page = { isOldestFirst: false, after: undefined, most: 50 };
    const { rows } = await selectAnyWallets(client, { ...all, ...filter }, page, 200);
    const { scanned, fetched } = await readSoFar();
    return { found: rows.length, scanned: scanned - before.scanned, fetched: fetched - before.fetched };
  };
  const grown = 'app_other' as AppId;
  for (const [filter, found, most] of [
    [{}, 50, 60n],
    [{ appId: grown }, 50, 60n],
    [{ userId: 'user-4' }, 50, 60n],
    [{ openedFromMs: 0 }, 50, 60n],
    [{ status: 'disconnected', appId: grown }, 0, 10n],
    [{ status: 'connected' }, 50, 210n],
    [{ minBalance: micros(1n), appId: grown }, 0, 210n],
    [{ minHeld: micros(1n) }, 0, 10n],
  ] as const) {
    const counts = await read(filter);
    const what = Object.keys(filter).join();
    assert.deepEqual([counts.found, counts.scanned], [found, 0n], what);
    assert.ok(counts.fetched <= most, `${what}: ${counts.fetched}`);
  }
});
