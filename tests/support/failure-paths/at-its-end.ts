import assert from 'node:assert/strict';
import { chargeFor } from '../catalogue.ts';
import { chat, type Reply, replyOf, send } from '../client.ts';
import { estimatedCharge, holdFor } from '../hold-price.ts';
import type { OpenChat } from '../open-chat.ts';
import { payloadsOf } from '../open-stream.ts';
import type { PromptScripts } from '../prompt-scripts.ts';
import { movementsOf, receiptNamed } from '../receipts.ts';
import { assertEnvelope, assertRefusal, type Code } from '../refusal.ts';
import type { RecordedRequest } from '../scripted-upstream.ts';
import type { Stage } from '../stage.ts';
import { soon, waitUntil } from '../wait-until.ts';
import { CONTENT, type Kind, NEVER, type Path, STREAM, THROTTLED, USAGE } from './path.ts';

/** A path, and the user who has gone down it. */
export interface Walk {
  readonly stage: Stage;
  readonly scripts: PromptScripts;
  readonly path: Path;
  readonly kind: Kind;
  /** Also the prompt and the correlation id of the call, so that its traces are told from all others. */
  readonly user: string;
  readonly body: string;
}

export const LIMIT = 200;
/** Enough for the call, and less than the one after it would like to hold: that one is given all there is. */
export const BALANCE = 4_000;
const LIMIT_OF_NEXT = 1_000;
const REPORTED = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });

/** By the rule of fairness, worked out apart from the service (CC-11). */
function chargeOf({ path: { ends }, body }: Walk): number {
  if (!('by' in ends) || ends.by === 'zero') return 0;
  return ends.by === 'report' ? REPORTED : estimatedCharge(body, ends.by.counted);
}

/** While the provider waits for the caller, the whole hold is there. */
export async function assertHeld({ stage, kind, user, body }: Walk): Promise<void> {
  const openStreams = kind === 'streamed' ? 1 : 0;
  const figures = { balance: BALANCE, held: holdFor(body, LIMIT), openStreams };
  assert.deepEqual(await stage.service.wallet(stage.app, user), figures);
}

/** What a caller who stayed has got. */
export async function assertAnswer(walked: Walk, opened: OpenChat): Promise<void> {
  const { path, kind, user } = walked;
  const { statusCode = 0, headers } = await opened.head;
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const reply = replyOf({ status: statusCode, headers: new Headers(fields) }, opened.text());
  assert.doesNotMatch(reply.text + JSON.stringify(fields), /CANARY/);
  assert.equal(reply.headers.get('x-correlation-id'), user);
  const { gets } = path;
  assert.ok(gets !== undefined, 'a path whose caller stays says what it gets');
  if (gets === 'answer') assertWhole(walked, reply);
  else if ('refusal' in gets) assertRefusal(reply, { code: gets.refusal, param: null, hasLink: false });
  else assertBroken(reply, gets.frame);
  if (kind === 'streamed' && reply.status === 200) {
    for (const payload of payloadsOf(reply.text).slice(0, -1) as Record<string, unknown>[]) {
      assert.match(String(payload['model']), /^acme\./);
    }
  }
}

function assertWhole(walked: Walk, { status, headers, text }: Reply): void {
  assert.equal(status, 200, text);
  if (walked.kind === 'streamed') {
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
  } else {
    assert.ok(text.includes(CONTENT), text);
    assert.equal(headers.get('x-service-charge-micros'), String(chargeOf(walked)));
  }
}

/** A stream that ends in a frame with the error (ER-06). */
function assertBroken({ status, headers, text }: Reply, code: Code): void {
  assert.equal(status, 200, text);
  assert.ok(!text.includes('[DONE]'), text);
  const last = payloadsOf(text).at(-1) as Record<string, Record<string, unknown>>;
  assert.equal(last['error']?.['code'], code);
  assert.equal(last['error']['correlationId'], headers.get('x-correlation-id'));
  assertEnvelope(last, code === THROTTLED ? 'upstream_throttled' : 'upstream_error', text);
}

/** The receipt, the wallet and its entries say the same, and it is what the rule says. */
export async function assertReceipt(walked: Walk): Promise<void> {
  const { stage, path, user, body } = walked;
  const { service, app } = stage;
  const charge = chargeOf(walked);
  // A caller who has read the end of an answer reads it after the settlement (CC-08); one who left may be ahead of it.
  const look = () => receiptNamed(service.database, user);
  const receipt = path.caller?.leaves ? await waitUntil('the call is settled', look) : await look();
  assert.ok(receipt !== undefined, 'a call that is answered has ended');
  const { outcome, charged, held, isEstimated } = receipt;
  const isCounted = 'by' in path.ends && typeof path.ends.by === 'object';
  const facts = { outcome: path.ends.outcome, charged: charge, isEstimated: isCounted, held: holdFor(body, LIMIT) };
  assert.deepEqual({ outcome, charged, isEstimated, held }, facts);
  assert.ok(charged <= held);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
  const entries = (await movementsOf(service.database, user)).map(({ kind, amount, after }) => [kind, amount, after]);
  const taken = charge === 0 ? [] : [['charge', charge, BALANCE - charge]];
  assert.deepEqual(entries, [['contract_credit', BALANCE, BALANCE], ...taken]);
}

/** The provider was asked once, and is rid of the call: cancelled where it would have gone on, else heard to its end. */
export async function assertProviderSide({ scripts, path, user }: Walk, request: RecordedRequest): Promise<void> {
  await soon('the provider is rid of the call', request.closed);
  const { body } = scripts.scriptOf(user);
  if (Array.isArray(body) && body.includes(NEVER)) assert.equal(request.aborted, true);
  else if ('by' in path.ends) assert.equal(request.aborted, false);
  assert.equal(scripts.arrivals(user), 1);
}

/** The next call of the user may have all that is left, and a stream: nothing of the one before is in its way. */
export async function assertNextCall(walked: Walk): Promise<void> {
  const { stage, scripts, path, user } = walked;
  const { service, app } = stage;
  const caller = { url: service.url, key: app.liveKey, user };
  const before = scripts.arrivals(user);
  const next = `next-of-${user}`;
  void scripts.expect(next, { body: STREAM });
  const messages = [{ role: 'user', content: next }];
  const options = { ...caller, headers: { 'x-correlation-id': next } };
  const reply = await chat(options, { messages, max_completion_tokens: LIMIT_OF_NEXT, stream: true });
  assert.equal(reply.status, 200, reply.text);
  const charge = chargeOf(walked);
  assert.equal((await receiptNamed(service.database, next))?.held, BALANCE - charge);
  const left = { balance: BALANCE - charge - REPORTED, held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, user), left);
  assert.equal(scripts.arrivals(user), before);
  if (path.ends.outcome === 'none')
    assert.deepEqual([before, await receiptNamed(service.database, user)], [0, undefined]);
  const { body } = await send('/usage/summary', caller);
  const requests = 'by' in path.ends ? 2 : 1;
  assert.deepEqual([body['requests'], body['chargedMicros']], [requests, charge + REPORTED]);
}
