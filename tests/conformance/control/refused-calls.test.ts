import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, type Reply } from '../../support/client.ts';
import { newOperator, newOwnApp, newOwner } from '../../support/control.ts';
import { signedInBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** What the owner of an app finds of a call that was refused as BAD_REQUEST. */

const { service } = await setStage();
const owner = await newOwner(service);
const app = await newOwnApp(owner);
let names = 0;

/** What a prompt may hold: it is in no message, and a name that the caller chose is there cut short and on one line. */
const SAID = 'Nobody may read this.';
const LONG_NAME = `next\nline \u202e${'x'.repeat(500)}`;

const asks = (content: unknown) => ({ messages: [{ role: 'user', content }] });

/** One call with a correlation id of its own, and what became of it. */
async function refused(
  fields: Readonly<Record<string, unknown>>,
): Promise<readonly [Reply, Readonly<Record<string, unknown>>]> {
  const correlationId = `refused-${(names += 1)}`;
  const headers = { 'x-correlation-id': correlationId };
  const reply = await chat({ url: service.url, key: app.liveKey, user: 'anna', headers }, fields);
  const trace = await waitUntil('the trace is written', async () => {
    const { traces } = await owner.get(200, 'GET', `/apps/${app.appId}/calls?correlationId=${correlationId}`);
    return (traces as readonly Readonly<Record<string, unknown>>[])[0];
  });
  const said = service
    .linesOf(correlationId)
    .map((line) => JSON.stringify(line))
    .join();
  assert.ok(!said.includes(String(reply.error['message'])) && !said.includes(SAID), 'the log has the code only');
  return [reply, trace];
}

test('CC-19 ER-09 a refused call keeps field and message, nothing of the prompt', async () => {
  for (const [fields, param] of [
    [{ ...asks(SAID), temperature: SAID }, 'temperature'],
    [{ messages: [{ role: SAID, content: SAID }] }, 'messages[0].role'],
    [asks([{ type: SAID, text: SAID }]), 'messages[0].content[0].type'],
    [asks([{ type: 'image_url', image_url: { url: SAID } }]), 'messages[0].content[0].image_url.url'],
    [{ ...asks(SAID), stop: [SAID, 1] }, 'stop'],
    [{ ...asks(SAID), response_format: { type: SAID } }, 'response_format.type'],
    [{ ...asks(SAID), tools: [{ type: SAID }] }, 'tools[0].type'],
    [{ ...asks(SAID), tool_choice: SAID }, 'tool_choice'],
    [{ ...asks(SAID), [LONG_NAME]: SAID }, undefined],
    [{ ...asks(SAID), model: 'none-such' }, 'model'],
  ] as const) {
    const [reply, trace] = await refused(fields);
    assertRefusal(reply, { code: 'BAD_REQUEST', ...(param === undefined ? {} : { param }) });
    assert.deepEqual([trace['param'], trace['message']], [reply.error['param'], reply.error['message']], String(param));
    assert.ok(!JSON.stringify(trace).includes(SAID), String(trace['message']));
    assert.ok(
      String(trace['param']).length < 140 && !/[\n\u202e]/.test(String(trace['message'])),
      String(trace['param']),
    );
  }
  const [, bad] = await refused({ temperature: 9 });
  assert.equal(bad['message'], '`temperature` must be a number from 0 to 2.');
  const id = String(bad['correlationId']);
  const operator = await newOperator(service);
  const { account } = (await operator.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  for (const [email, home, page] of [
    [owner.email, 'Your apps', `/console/${app.appId}/call?id=${id}`],
    [account.email, 'Overview', `/ops/call?id=${id}`],
  ] as const) {
    const { text } = await (await signedInBrowser(service, email, home)).open(page);
    assert.ok(text.includes('`temperature` must be a number from 0 to 2.'), text);
  }
  const [, other] = await refused({ model: 'acme.secret-1' });
  assert.deepEqual([other['code'], other['param'], other['message']], ['MODEL_NOT_ENTITLED', null, null]);
});
