import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator, newOwner, PASSWORD, type Person, signIn } from '../../support/control.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { idOf } from '../../support/trail.ts';

/** Operators whom another one has just made, and what they may move. */

const { service, app, newUser } = await setStage({
  environment: {
    PURSER_SECOND_PERSON_MICROS: '50000000',
    PURSER_OPERATOR_LIMITS: 'finance=90000000/90000000 admin=90000000/90000000',
  },
});
const admin = await newOperator(service);

let credits = 0;

test('CP-07 an account that an operator changed cannot confirm for 24 hours', async () => {
  const [user, asker, promoted] = [await newUser(0), await newOperator(service, 'finance'), await newOwner(service)];
  const { pendingId } = (await credit(user, asker, 60_000_000)).body;
  const confirm = async (by: Person) =>
    (await by.ask('POST', `/operator/pending/${String(pendingId)}/confirm`, { reason: 'checked' })).status;
  const age = async (whom: Person, by: string) =>
    service.database.owner.query(
      `update accounts.accounts set appointed_at = coalesce(appointed_at, now()) - $2::interval where account_id = $1`,
      [await idOf(whom), by],
    );
  const role = { role: 'operator', operatorRole: 'finance' };
  await admin.get(200, 'PATCH', `/operator/accounts/${await idOf(promoted)}`, { ...role, reason: 'needed' });
  await admin.get(201, 'POST', '/operator/accounts', { ...role, email: 'second@example.test', password: PASSWORD });
  const second = await signIn(service, promoted.email);
  assert.equal(await confirm(await signIn(service, 'second@example.test')), 403);
  assert.equal((await credit(user, second, 60_000_000)).status, 403, 'nor does it ask for such an act');
  assert.equal((await credit(user, second, 1)).status, 200, 'what one person may do needs no wait');
  await age(second, '23 hours');
  assert.equal(await confirm(second), 403);
  await age(second, '1 hour');
  await age(asker, '0 hours');
  assert.equal(await confirm(second), 403, 'the person who asked was changed');
  await age(asker, '24 hours');
  assert.equal(await confirm(second), 200);
});

test('CP-07 movements of admin-made accounts count for that admin’s day', async () => {
  const [user, maker] = [await newUser(0), await newOperator(service)];
  const made = async (by: Person, operatorRole: string) => {
    const email = `made-${(credits += 1)}@example.test`;
    await by.get(201, 'POST', '/operator/accounts', { email, password: PASSWORD, role: 'operator', operatorRole });
    return signIn(service, email);
  };
  const helper = await made(maker, 'admin');
  const [first, second] = [await made(maker, 'finance'), await made(helper, 'finance')];
  assert.equal((await credit(user, first, 40_000_000)).status, 200);
  assert.equal((await credit(user, second, 40_000_000)).status, 200);
  for (const one of [first, second, maker]) {
    const refused = await credit(user, one, 10_000_001);
    assert.equal(refused.status, 403, refused.text);
  }
  assert.equal((await credit(user, helper, 10_000_000)).status, 200);
  assert.equal((await credit(user, second, 1)).status, 403);
  await sql(service)`update accounts.accounts set appointed_at = appointed_at - interval '24 hours'
    where account_id = ${await idOf(second)}`;
  assert.equal((await credit(user, second, 1)).status, 200, 'after 24 hours it counts for itself alone');
});

function credit(user: string, by: Person, amountMicros: number) {
  const body = { amountMicros, reason: 'agreed', idempotencyKey: `key-${(credits += 1)}` };
  return by.ask('POST', `/operator/apps/${app.appId}/wallets/${user}/credit`, body);
}
