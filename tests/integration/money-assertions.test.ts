import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakFunction } from '../support/broken-statements.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What becomes of a call if the ledger answers what cannot be true. */

const { service, app, upstream, newUser, callAs } = await setStage({ checksBooks: true });

/** Every call is judged one by one, by `ledger.reserve` and `ledger.settle`. */
async function judgeSingly(): Promise<() => Promise<void>> {
  const ends = [
    await breakFunction(service, 'place_one', 'return false;'),
    await breakFunction(service, 'settle_one', 'return false;'),
    await breakFunction(service, 'lane_turn', `return '{}';`),
  ];
  return async () => {
    for (const end of ends) await end();
  };
}

test('WA-07 a call that was granted too much reaches nobody and holds nothing', async () => {
  const user = await newUser(1_000_000);
  const asked = upstream.requests.length;
  const ends = [
    await judgeSingly(),
    await breakFunction(
      service,
      'reserve',
      `return query select call_id, outcome, wallet_id, granted * 2, earlier from ledger.right_reserve(p_instance, p_requests);`,
    ),
  ];
  const reply = await callAs(user);
  for (const end of ends) await end();
  assert.deepEqual(reply.status, 500, reply.text);
  assert.equal(upstream.requests.length, asked);
  await waitUntil('its hold is released', async () => (await service.wallet(app, user)).held === 0);
  assert.equal((await service.wallet(app, user)).balance, 1_000_000);
});

for (const stream of [false, true]) {
  test(`WA-07 a ${stream ? 'stream' : 'plain call'} is not told a charge above its hold`, async () => {
    const user = await newUser(1_000_000);
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
    const said = { model: 'large-upstream', usage };
    const body = stream
      ? streamSteps({ ...said, pieces: ['Hi.'], includeUsageChunk: true })
      : completionBody({ ...said, content: 'Hi.' });
    upstream.script({ body });
    const ends = [
      await judgeSingly(),
      await breakFunction(
        service,
        'settle',
        `return query select call_id, is_settled, charged + 1000000, is_joined from ledger.right_settle(p_settlements, p_sessions);`,
      ),
    ];
    const reply = await callAs(user, { stream });
    for (const end of ends) await end();
    assert.ok(reply.text.includes('INTERNAL_SERVER_ERROR'), reply.text);
    assert.ok(!reply.text.includes('"chargedMicros"'), reply.text);
    const { balance, held, openStreams } = await service.wallet(app, user);
    assert.ok(balance < 1_000_000, 'it is charged, once');
    assert.deepEqual([held, openStreams], [0, 0]);
  });
}
