import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOperator } from '../../support/control.ts';
import { setStage } from '../../support/stage.ts';

/** Acts above the second person's limit where no second person is. */

const { service, app, newUser } = await setStage({ environment: { PURSER_SECOND_PERSON_MICROS: '2000' } });
const { owner: database } = service.database;

test('CP-07 an act that nobody could confirm is refused at once', async () => {
  await database.query(`update accounts.accounts set is_disabled = true where role = 'operator'`);
  const alone = await newOperator(service);
  const user = await newUser(0);
  const credit = (amountMicros: number) =>
    alone.ask('POST', `/operator/apps/${app.appId}/wallets/${user}/credit`, {
      amountMicros,
      reason: 'as agreed',
      idempotencyKey: `k${amountMicros}`,
    });
  const refused = await credit(3_000);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /no other operator could confirm it.* PURSER_SECOND_PERSON_MICROS/);
  const { rows } = await database.query('select 1 from operator.pending_acts');
  assert.deepEqual(rows, [], 'nothing waits');
  assert.equal((await service.wallet(app, user)).balance, 0);
  assert.equal((await credit(2_000)).status, 200);
  await newOperator(service);
  assert.equal((await credit(3_000)).status, 202, 'it waits as soon as somebody could confirm it');
});
