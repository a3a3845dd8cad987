import assert from 'node:assert/strict';
import type { CalledWire } from '../../../support/called-wire.ts';
import { chargeFor } from '../../../support/catalogue.ts';
import { chat, type Reply, replyOf, send } from '../../../support/client.ts';
import { estimatedCharge, holdFor, shareOf } from '../../../support/hold-price.ts';
import type { OpenChat } from '../../../support/open-chat.ts';
import { payloadsOf } from '../../../support/open-stream.ts';
import type { PromptScripts } from './prompt-scripts.ts';
import { movementsOf, receiptNamed } from '../../../support/receipts.ts';
import { assertEnvelope, assertRefusal, type Code } from '../../../support/refusal.ts';
import type { RecordedRequest } from '../../../support/scripted-upstream.ts';
import type { Stage } from '../../../support/stage.ts';
import { soon, waitUntil } from '../../../support/wait-until.ts';
import { isSpoken, saidIn } from '../../../support/wires.ts';
import { CONTENT, type Kind, NEVER, type Path, STREAM, THROTTLED, USAGE } from './path.ts';

/** A path and the user who took it. */
export interface Walk {
  readonly stage: Stage;
  readonly scripts: PromptScripts;
  readonly path: Path;
  readonly kind: Kind;
  readonly wire: CalledWire;
  /** The user is also the prompt and the correlation id of the call, so that its traces can be told from all others. */
  readonly user: string;
  /** Its prompt as a provider gets it. */
  readonly body: string;
}

export const LIMIT = 200;
/**
 * This is enough for the call, but less than the next call would like to hold, so that its hold shows all that is left.
 */
export const BALANCE = 4_000;
const LIMIT_OF_NEXT = 1_000;
const REPORT = { prompt: USAGE.prompt_tokens, cached: 0, completion: USAGE.completion_tokens };
const COST_OF_NEXT = chargeFor(REPORT);

/** The fair charge, calculated independently of the service (CC-11). */
function chargeOf({ path: { ends }, body, wire }: Walk): number {
  if (!('by' in ends) || ends.by === 'zero') return 0;
  if (ends.by === 'report') return chargeFor(wire.paidOf(REPORT));
  return estimatedCharge(body, isSpoken(wire) ? ends.by.counted : '');
}

function holdOf({ body, wire }: Walk): number {
  return holdFor(body, isSpoken(wire) ? LIMIT : 0);
}

/** Asserts that the whole hold exists while the provider waits for the caller. */
export async function assertHeld(walked: Walk): Promise<void> {
  const { stage, kind, user } = walked;
  const openStreams = kind === 'streamed' ? 1 : 0;
  const figures = { balance: BALANCE, held: holdOf(walked), openStreams };
  assert.deepEqual(await stage.service.wallet(stage.app, user), figures);
}

/** Checks what a caller who stayed received. */
export async function assertAnswer(walked: Walk, opened: OpenChat): Promise<void> {
  const { path, kind, user, wire } = walked;
  const { statusCode = 0, headers } = await opened.head;
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const reply = replyOf({ status: statusCode, headers: new Headers(fields) }, opened.text());
  assert.doesNotMatch(reply.text + JSON.stringify(fields), /CANARY/);
  assert.equal(reply.headers.get('x-correlation-id'), user);
  const { gets } = path;
  assert.ok(gets !== undefined, 'a path whose caller stays must say what the caller gets');
  if (gets === 'answer') assertWhole(walked, reply);
  else if ('refusal' in gets) assertRefusal(reply, { code: gets.refusal, param: null, hasLink: false });
  else if (wire.name === 'chat completions') assertBroken(reply, gets.frame);
  else assertFailed(walked, reply, gets.frame);
  if (kind === 'streamed' && reply.status === 200 && wire.name === 'chat completions') {
    for (const payload of payloadsOf(reply.text).slice(0, -1) as Record<string, unknown>[]) {
      assert.match(String(payload['model']), /^acme\./);
    }
  }
}

function assertWhole(walked: Walk, reply: Reply): void {
  const { status, text } = reply;
  assert.equal(status, 200, text);
  const said = saidIn(walked.wire, reply);
  assert.deepEqual([said.text, said.charged], [CONTENT, chargeOf(walked)]);
  assert.match(said.reason ?? '', /^(?:stop|length)$/);
  if (walked.kind === 'streamed' && walked.wire.name === 'chat completions')
    assert.equal(payloadsOf(text).at(-1), '[DONE]');
}

/** A stream that ends in an event with the error (WI-07, WI-09). */
function assertFailed({ wire }: Walk, reply: Reply, code: Code): void {
  const { status, text, headers } = reply;
  assert.equal(status, 200, text);
  const said = saidIn(wire, reply);
  assert.deepEqual([said.code, said.charged, said.reason], [code, undefined, undefined]);
  assert.ok(text.includes(`"correlationId":"${headers.get('x-correlation-id')}"`), text);
}

/** A stream that ends in a frame with the error (ER-06). */
function assertBroken({ status, headers, text }: Reply, code: Code): void {
  assert.equal(status, 200, text);
  assert.ok(!text.includes('[DONE]'), text);
  const { choices, ...last } = payloadsOf(text).at(-1) as Record<string, Record<string, unknown>>;
  assert.equal(choices, last['error']?.['message']);
  assert.equal(last['error']?.['code'], code);
  assert.equal(last['error']['correlationId'], headers.get('x-correlation-id'));
  assertEnvelope(last, code === THROTTLED ? 'upstream_throttled' : 'upstream_error', text);
}

/** Asserts that the receipt, the wallet and its entries agree with each other and with the rule. */
export async function assertReceipt(walked: Walk): Promise<void> {
  const { stage, path, user } = walked;
  const { service, app } = stage;
  const charge = chargeOf(walked);
  // A caller reads the end of an answer only after the settlement (CC-08). A caller who left may be ahead of it.
  const look = () => receiptNamed(service.database, user);
  const receipt = path.caller?.leaves ? await waitUntil('the call is settled', look) : await look();
  assert.ok(receipt !== undefined, 'an answered call has ended');
  const { outcome, charged, held, isEstimated } = receipt;
  const isCounted = 'by' in path.ends && typeof path.ends.by === 'object';
  const facts = { outcome: path.ends.outcome, charged: charge, isEstimated: isCounted, held: holdOf(walked) };
  assert.deepEqual({ outcome, charged, isEstimated, held }, facts);
  assert.ok(charged <= held);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
  const entries = (await movementsOf(service.database, user)).map(({ kind, amount, after }) => [kind, amount, after]);
  const taken = charge === 0 ? [] : [['charge', charge, BALANCE - charge]];
  assert.deepEqual(entries, [['contract_credit', BALANCE, BALANCE], ...taken]);
}

/** Asserts that the provider was called once and that the call is over there: cancelled if it would have gone on, otherwise read to its end. */
export async function assertProviderSide({ scripts, path, user }: Walk, request: RecordedRequest): Promise<void> {
  await soon('the provider is rid of the call', request.closed);
  const { body } = scripts.scriptOf(user);
  if (Array.isArray(body) && body.includes(NEVER)) assert.equal(request.aborted, true);
  else if ('by' in path.ends) assert.equal(request.aborted, false);
  assert.equal(scripts.arrivals(user), 1);
}

/** Asserts that the user's next call can hold everything that is left and can be a stream: the one before blocks nothing. */
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
  assert.equal((await receiptNamed(service.database, next))?.held, shareOf(BALANCE - charge, 0));
  const left = { balance: BALANCE - charge - COST_OF_NEXT, held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, user), left);
  assert.equal(scripts.arrivals(user), before);
  if (path.ends.outcome === 'none')
    assert.deepEqual([before, await receiptNamed(service.database, user)], [0, undefined]);
  const { body } = await send('/usage/summary', caller);
  const requests = 'by' in path.ends ? 2 : 1;
  assert.deepEqual([body['requests'], body['chargedMicros']], [requests, charge + COST_OF_NEXT]);
}
