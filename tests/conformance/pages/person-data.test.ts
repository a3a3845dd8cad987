import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personExportSchema } from '../../../packages/contract/src/person-export.ts';
import { insertInstance } from '../../../packages/service/src/db/processes/queries.ts';
import type { Email } from '../../../packages/service/src/people/email.ts';
import { createPersonSessions } from '../../../packages/service/src/people/session.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { reserveHolds } from '../../../packages/service/src/ledger/hold/queries.ts';
import { reapHolds } from '../../../packages/service/src/ledger/recovery/queries.ts';
import { settleLate } from '../../../packages/service/src/ledger/settlement/queries.ts';
import { insertMessage } from '../../../packages/service/src/mail/queries.ts';
import { connectionsOf } from '../../support/connections.ts';
import { sealedEmail } from '../../support/database.ts';
import { endOf, holdOf } from '../../support/ledger-database.ts';
import { assertPage, mainOf, openBrowser } from '../../support/page.ts';
import { isSignedIn, PERSON_COOKIE } from '../../support/people.ts';
import { ANSWER, DATA, setPersonStage } from '../../support/person-stage.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { addUsage } from '../../support/usage-rows.ts';

const stage = await setPersonStage();
const { service, app, admin, live, privacy, newWalletOwner, personWith, call, fileOf } = stage;
const { empty, checkoutFor, paid, tablesWith, booksOf, casesOf } = stage;
const { owner: database } = service.database;
const connections = connectionsOf(service.database);
const REASON = { reason: 'asked for by letter' };

async function checkIsClean(): Promise<void> {
  const { ok, differences } = await admin.get(200, 'GET', '/operator/ledger/check');
  assert.equal(ok, true, JSON.stringify(differences));
}

test('CP-12 a person downloads all their own data and nobody else’s', async () => {
  const other = await personWith(3_000_000);
  const { email, identityId, browser, user } = await personWith(10_000_000);
  for (let calls = 0; calls < 3; calls += 1) assert.equal((await call(user)).status, 200);
  await addUsage(service.database, { appId: app.appId, user, at: '2026-03-01T10:00:00Z', outcome: 'failed' });
  const file = await fileOf(browser);
  assert.deepEqual([file.identity.identityId, file.identity.email], [identityId, email]);
  const [wallet] = file.wallets;
  assert.equal(file.wallets.length, 1);
  assert.equal(wallet?.userId, user);
  assert.equal(wallet.receipts.length, 4);
  assert.equal(wallet.receipts.filter(({ outcome }) => outcome === 'failed').length, 1);
  const sum = wallet.movements.reduce((all, { direction, amountMicros: amount }) => {
    return all + (direction === 'in' ? amount : direction === 'out' ? -amount : 0);
  }, 0);
  assert.equal(sum, wallet.balanceMicros, 'the movements add up to the balance');
  const text = JSON.stringify(file);
  const cookie = [...browser.cookies.values()];
  for (const foreign of [other.email, other.user, other.identityId, ANSWER, 'Hello', app.liveKey, ...cookie]) {
    assert.ok(!text.includes(foreign), foreign);
  }
  const acts = await database.query(`select action from audit.entries where subject = $1`, [identityId]);
  assert.deepEqual(acts.rows, [{ action: 'identity.export' }]);
});

test('CP-12 a long export has each movement once', async () => {
  const { browser, user } = await personWith(5_000_000);
  await sql(database)`
    insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens, completion_tokens,
      reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
    select uuidv7(), w.wallet_id, date_trunc('month', now()), 'acme.large-1', 'answered', false, 3, 0, 2, 0, 10, 1, n + 1,
      balance_micros - n from ledger.wallets w, generate_series(1, 2100) n where w.user_id = ${user}`;
  await sql(database)`update ledger.wallets set entry_seq = 2101, balance_micros = balance_micros - 2100
    where user_id = ${user}`;
  await sql(database)`
    insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens, completion_tokens,
      reasoning_tokens, held_micros, charged_micros)
    select uuidv7(), w.wallet_id, ('2026-0' || 1 + n % 3 || '-01')::date, 'acme.large-1', 'failed', false, 3, 0, 2, 0, 10, 0
    from ledger.wallets w, generate_series(1, 3300) n where w.user_id = ${user}`;
  const [wallet] = (await fileOf(browser)).wallets;
  assert.deepEqual(
    wallet?.movements.map(({ seq }) => seq),
    Array.from({ length: 2_101 }, (_none, index) => 2_101 - index),
  );
  assert.equal(new Set(wallet.receipts.map(({ callId }) => callId)).size, 5_400);
  assert.equal(wallet.receipts.length, 5_400);
});

test('CP-12 old sessions and strangers can neither export nor delete', async () => {
  const { browser, identityId, user } = await personWith(0);
  const page = await browser.open(DATA);
  const forms = [`${DATA}/export`, `${DATA}/delete`].map((path) => [path, browser.fieldsOf(path)] as const);
  assertPage(page, 200, 'Your data');
  const stranger = openBrowser(service.url);
  const other = await personWith(0);
  await sql(database)`update identities.sessions set created_at = created_at - interval '11 minutes'
    where identity_id = ${identityId}`;
  for (const [path, form] of forms) {
    const late = await browser.ask(path, { form });
    assert.deepEqual([late.status, late.headers.get('location')], [303, DATA]);
    for (const foreign of [stranger, other.browser]) assert.equal((await foreign.ask(path, { form })).status, 403);
  }
  assert.match(mainOf(await browser.open(DATA)), /Sign in again/);
  assert.doesNotMatch(mainOf(browser.page()), /Download the file|Delete my data for good/);
  assert.ok((await connections.find(app.appId, user as EndUserId)) !== undefined);
  assert.deepEqual((await privacy.holdings(other.identityId))?.obstacles, []);
});

test('CP-12 WA-15 an earlier owner’s traces are in nobody else’s file', async () => {
  const first = await personWith(9_000_000);
  assert.equal((await call(first.user)).status, 200);
  await admin.get(200, 'POST', `/operator/apps/${app.appId}/wallets/${first.user}/release`, REASON);
  const next = await newWalletOwner();
  await next.connect(app, first.user, { isLater: true });
  const [wallet] = (await fileOf(next.browser)).wallets;
  assert.deepEqual([wallet?.movements, wallet?.receipts, wallet?.callTraces], [[], [], []]);
});

test('CP-12 CP-05 an operator exports a person with a reason and trail', async () => {
  const { email, identityId } = await personWith(1_000_000);
  const path = `/operator/identities/${identityId}/export`;
  await admin.get(400, 'POST', path, {});
  await admin.get(404, 'POST', '/operator/identities/idn_0123456789abcdefghijkl/export', REASON);
  const file = personExportSchema.parse(await admin.get(200, 'POST', path, REASON));
  assert.equal(file.identity.email, email);
  const { rows } = await database.query(`select actor, reason from audit.entries where subject = $1`, [identityId]);
  assert.deepEqual(
    rows.map(({ reason }) => reason as string),
    [REASON.reason],
  );
});

test('CP-12 WA-06 nobody is deleted while money or a case is open', async () => {
  const { browser, identityId, user } = await personWith(2_000_000);
  const before = await booksOf(user);
  const kinds = async () => (await privacy.holdings(identityId))?.obstacles.map(({ kind }) => kind);
  assert.deepEqual(await kinds(), ['money']);
  assert.match(mainOf(await browser.open(DATA)), /has money that cannot be paid back to a card/);
  assert.doesNotMatch(browser.page().text, /Delete my data for good/);
  assert.equal((await privacy.deleteOwn(identityId))?.obstacles.length, 1);
  const refused = await admin.get(409, 'POST', `/operator/identities/${identityId}/delete`, REASON);
  assert.match(JSON.stringify(refused), /has money: refund it first/);
  assert.equal(await booksOf(user), before, 'the books are as they were');
  assert.ok(await isSignedIn(browser));
  assert.equal((await connections.find(app.appId, user as EndUserId))?.identityId, identityId);
  assert.equal((await call(user)).status, 200, 'and the app goes on spending');

  await empty(user);
  const own = await checkoutFor(user);
  assert.deepEqual(await kinds(), ['checkout']);
  await paid(own);
  await empty(user).catch(() => undefined);
  const dispute = { processorMovement: 'dp_1', amount: micros(5_000_000n), isReinstated: false };
  await paid(own, { disputeMovements: [dispute] });
  assert.deepEqual(await kinds(), ['dispute']);
  await paid(own, { disputeMovements: [dispute, { ...dispute, processorMovement: 'dp_2' }] });
  assert.deepEqual(await kinds(), ['debt', 'dispute', 'case']);
  const other = await personWith(0);
  await checkoutFor(user, other.identityId);
  assert.deepEqual((await privacy.holdings(other.identityId))?.obstacles, [{ kind: 'gift', wallet: undefined }]);
  assert.equal((await privacy.deleteOwn(other.identityId))?.obstacles.length, 1);
});

test('CP-12 WA-02 a deleted person is in no table and may start anew', async () => {
  const { email, browser, identityId, user } = await personWith(2_000_000);
  assert.equal((await call(user)).status, 200);
  await empty(user);
  await insertMessage(live, { recipient: email, subject: 'A receipt', body: `For ${email}`, html: 'x' });
  await sql(database)`insert into identities.codes (digest, email, proof, guesses_left, expires_at)
    values (sha256(${email}::bytea), ${sealedEmail(email)}, sha256('p'), 5, now() + interval '9 minutes')`;
  await sql(database)`insert into audit.sign_ins (minute, who, result, address)
    values (now(), ${identityId}, 'signed_in', '192.0.2.77')`;
  await sql(database)`insert into identities.passkeys (credential_id, identity_id, public_key, sign_count)
    values (${`key-${user}`}, ${identityId}, 'k', 0)`;
  const moved = `moved-${user}@example.test`;
  for (const address of [moved, email]) {
    await admin.get(200, 'PATCH', `/operator/identities/${identityId}`, { email: address, ...REASON });
  }
  const { moves } = await admin.get(200, 'GET', `/operator/identities/${identityId}`);
  assert.deepEqual(
    (moves as { before: string; after: string }[]).map(({ before, after }) => `${before} ${after}`),
    [`${moved} ${email}`, `${email} ${moved}`],
  );
  const { token } = await createPersonSessions(live).open(email as Email);
  browser.cookies.set(PERSON_COOKIE, token);
  const books = await booksOf(user);
  await browser.open(DATA);
  const form = browser.fieldsOf(`${DATA}/delete`);
  const [one, two] = await Promise.all([
    browser.ask(`${DATA}/delete`, { form }),
    browser.ask(`${DATA}/delete`, { form }),
  ]);
  assert.ok([one.status, two.status].includes(200), `${one.status} ${two.status}`);
  assert.deepEqual(await tablesWith(email), []);
  for (const word of [moved, '192.0.2.77']) assert.deepEqual(await tablesWith(word), []);
  assert.deepEqual(await tablesWith(identityId), ['audit.entries'], 'the trail keeps the id alone');
  const lines = await database.query(`select actor, action from audit.entries where subject = $1 order by entry_id`, [
    identityId,
  ]);
  const { actor, action } = (lines.rows as { actor: string; action: string }[]).at(-1) ?? {};
  assert.deepEqual([lines.rowCount, actor, action], [3, identityId, 'identity.delete']);
  assert.equal(await booksOf(user), books);
  assert.equal(await isSignedIn(browser), false);
  const refused = await call(user);
  assertRefusal(refused, { code: 'PAYMENT_REQUIRED', hasLink: true });
  assert.equal(refused.error['message'], (await call('never-connected')).error['message']);
  const again = await createPersonSessions(live).open(email as Email);
  assert.notEqual(again.identity.identityId, identityId);
  assert.deepEqual((await privacy.holdings(again.identity.identityId))?.wallets, []);
  await admin.get(404, 'POST', `/operator/identities/${identityId}/delete`, REASON);
  await checkIsClean();
});

test('CP-12 ON-02 money for a deleted person is kept as a case', async () => {
  const { identityId, user } = await personWith(0);
  const first = await checkoutFor(user, identityId);
  await paid(first);
  await empty(user);
  const late = await checkoutFor(user, identityId);
  await sql(database)`update payments.checkouts set created_at = created_at - interval '4 days'
    where checkout_id = ${late}`;
  // The booking is under way: the deletion waits for it, and then finds the money.
  const booking = await live.connect();
  await sql(booking)`begin`;
  await sql(booking)`select connections.is_owner_deleted(${app.appId}, ${user}, now())`;
  let isDone = false;
  const deletion = privacy.deleteOwn(identityId).finally(() => (isDone = true));
  await waitUntil('the deletion waits for the booking, or is done', async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%connections.release(%'`;
    return isDone || (await database.query(waiting)).rowCount === 1;
  });
  await sql(booking)`select ledger.credit(${app.appId}, ${user}, 'top_up', 7, 'raced')`;
  await sql(booking)`commit`;
  booking.release();
  assert.deepEqual(
    (await deletion)?.obstacles.map(({ kind }) => kind),
    ['rest'],
  );
  const movement = { amountMicros: 7, reason: 'paid back', idempotencyKey: 'seven' };
  await admin.get(200, 'POST', `/operator/apps/${app.appId}/wallets/${user}/refund`, movement);
  const done = await admin.get(200, 'POST', `/operator/identities/${identityId}/delete`, REASON);
  assert.deepEqual(done, { identityId, wallets: 1, givenUp: [] });

  await paid(late);
  assert.deepEqual(await casesOf(user), ['kept']);
  const back = { processorMovement: 'dp_3', amount: micros(5_000_000n), isReinstated: true };
  await paid(first, { disputeMovements: [back] });
  assert.deepEqual(await casesOf(user), ['kept', 'dispute_not_booked']);
  const { wallet } = await admin.get(200, 'GET', `/operator/apps/${app.appId}/wallets/${user}`);
  assert.equal((wallet as { balanceMicros: number }).balanceMicros, 0);
  const consent = {
    identityId,
    appId: app.appId,
    userId: user as EndUserId,
    userLabel: undefined,
    cap: undefined,
  };
  assert.equal(await connections.consent({ ...consent, linkBeganAtMs: Date.now() }), 'outdated');
  const next = await newWalletOwner();
  await next.connect(app, user, { isLater: true });
  await paid(await checkoutFor(user, next.identityId));
  assert.equal((await connections.find(app.appId, user as EndUserId))?.wallet.balance, 5_000_000n);
  await checkIsClean();
});

test('WA-10 WA-15 a deleted person’s late charge spares the next wallet owner', async () => {
  const person = await personWith(1_000);
  const { user } = person;
  const asked = { ...holdOf(user, 50), appId: app.appId };
  const instance = await insertInstance(database, 60_000);
  await reserveHolds(database, instance, [asked]);
  await sql(database)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  await waitUntil('its hold is released', async () => {
    await reapHolds(database, 100);
    return (await database.query('select from ledger.holds where call_id = $1', [asked.callId])).rowCount === 0;
  });
  await empty(user);
  await admin.get(200, 'POST', `/operator/identities/${person.identityId}/delete`, REASON);
  const next = await newWalletOwner();
  await next.connect(app, user, { isLater: true });
  await paid(await checkoutFor(user, next.identityId));
  const [late] = await settleLate(live, [endOf(asked, 40)]);
  assert.deepEqual([late?.charged, late?.lost], [0n, 40n]);
  assert.equal((await connections.find(app.appId, user as EndUserId))?.wallet.balance, 5_000_000n);
  await checkIsClean();
});
