import { type Answer, answerFactsOf, providerCallOf } from '#gateway/answer/answer.ts';
import { shapeCompletion } from '#gateway/answer/answer-shape.ts';
import { endKept, keepUndelivered, placeOrJoin } from '#gateway/idempotency/idempotency.ts';
import type { AskingCall, CallerSide } from '#gateway/call/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/call/lane.ts';
import { outputLimitFor } from '#gateway/usage/output-limit.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/answer/refusals.ts';
import { openStream } from '#gateway/stream/stream.ts';
import { endingOf, FAILED, generatedBytesIn } from '#gateway/usage/ending.ts';
import { laterReport, usageToWire } from '#gateway/usage/usage-report.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { Mode } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import { describeFault } from '#kernel/log.ts';
import { Refusal } from '#kernel/refusal.ts';
import { type ProviderCall, UpstreamError } from '#providers/provider.ts';

type LaneRefusalCode = HoldRefusalCode | UpstreamRefusalCode | 'CONFLICT';

const JUST_REJECTED = new UpstreamError('rejected', 'The provider has just rejected this request.');

type LaneAnswer = Answer | Refusal<LaneRefusalCode>;

/** From a hold to an answer: hold, provider, settlement. Whatever happens, the hold is ended once. */
export async function runInLane<M extends Mode>(
  lane: Lane<M>,
  asking: AskingCall,
  caller: CallerSide,
): Promise<LaneAnswer> {
  const { call } = asking;
  if (caller.rejections.has(lane.mode, asking)) return refusalOfUpstream(JUST_REJECTED);
  failpoint('lane.hold-wanted');
  const hold = await placeOrJoin(lane, call, caller);
  failpoint('lane.held');
  if (hold instanceof Refusal || 'kind' in hold) return hold;
  if (call.isStream) return openStream(lane, { hold, asked: asking.asked }, caller);

  // A plain call. It runs to its end when its caller leaves: its answer is paid for (CC-11).
  const providerCall = providerCallOf(asking, hold.granted);
  let whole: Whole;
  try {
    failpoint('lane.provider-wanted');
    const completion = await lane.providerOf(call).complete(providerCall);
    failpoint('lane.provider-answered');
    whole = wholeOf(hold, providerCall, completion);
  } catch (fault) {
    failpoint('lane.provider-failed');
    caller.rejections.note(lane.mode, asking, fault);
    await lane.endHold(hold, FAILED);
    failpoint('lane.failure-settled');
    return refusalOfFailure(hold, caller, fault);
  }
  // Before the answer: what the caller reads as charged is charged, whatever happens next.
  const { completion, ending } = whole;
  const facts = answerFactsOf(call, providerCall.outputTokens);
  const answerOf = () => ({ ...facts, isStream: false, text: JSON.stringify(completion) });
  failpoint('lane.settling');
  const charged = await endKept(lane, { hold, ending, caller }, answerOf);
  failpoint('lane.settled');
  return { kind: 'plain', facts, charged, completion, onSent: keepUndelivered(call, caller, { answerOf, charged }) };
}

interface Whole {
  readonly completion: JsonObject;
  readonly ending: Ending;
}

/** What a provider's whole answer is charged, and what of it the caller gets. */
function wholeOf(hold: Hold<Mode>, { outputTokens }: ProviderCall, answered: JsonObject): Whole {
  const { call } = hold;
  const report = laterReport(undefined, answered['usage']);
  const bytes = generatedBytesIn(answered['choices'], 'message');
  const limit = outputLimitFor(call, outputTokens);
  const ending = endingOf(hold, 'answered', { report, bytes, isPastLimit: bytes > limit.bytesMax, limit });
  const shaped = shapeCompletion(answered, call.callId);
  const usage = report && usageToWire(ending.usage, report);
  return { ending, completion: { ...shaped, model: call.model.id, ...(usage && { usage }) } };
}

/** Throws what was no provider's failure. */
function refusalOfFailure(
  { mode, call: { callId } }: Hold<Mode>,
  { log }: CallerSide,
  fault: unknown,
): Refusal<UpstreamRefusalCode> {
  if (!(fault instanceof UpstreamError)) throw fault;
  // In the sandbox it was asked for.
  if (mode === 'live')
    log.warn({ callId, kind: fault.kind, fault: describeFault(fault) }, 'the provider failed a call');
  return refusalOfUpstream(fault);
}
