import { type Answer, answerFactsOf, providerCallOf } from '#gateway/answer.ts';
import { shapeCompletion } from '#gateway/answer-shape.ts';
import { endKept, keepUndelivered, placeOrJoin } from '#gateway/attempts.ts';
import type { CallerSide, ChatCall } from '#gateway/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/lane.ts';
import { outputLimitOf } from '#gateway/output-limit.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/refusals.ts';
import { openStream } from '#gateway/stream.ts';
import { endingOf, FAILED, generatedBytesIn } from '#gateway/usage.ts';
import { laterReport, usageToWire } from '#gateway/usage-report.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { Mode } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import { describeFault } from '#kernel/log.ts';
import { Refusal } from '#kernel/refusal.ts';
import { UpstreamError } from '#providers/provider.ts';

type LaneRefusalCode = HoldRefusalCode | UpstreamRefusalCode | 'CONFLICT';

const JUST_REJECTED = new UpstreamError('rejected', 'The provider has just rejected this request.');

/** From a hold to an answer: hold, provider, settlement. Whatever happens, the hold is ended once. */
export async function runInLane<M extends Mode>(
  lane: Lane<M>,
  call: ChatCall,
  caller: CallerSide,
): Promise<Answer | Refusal<LaneRefusalCode>> {
  if (caller.rejections.has(lane.mode, call)) return refusalOfUpstream(JUST_REJECTED);
  failpoint('lane.hold-wanted');
  const hold = await placeOrJoin(lane, call, caller);
  failpoint('lane.held');
  if (hold instanceof Refusal || 'kind' in hold) return hold;
  return call.isStream ? openStream(lane, hold, caller) : completeWhole(lane, hold, caller);
}

/** A plain call. It runs to its end when its caller leaves: its answer is paid for (CC-11). */
async function completeWhole<M extends Mode>(
  lane: Lane<M>,
  hold: Hold<M>,
  caller: CallerSide,
): Promise<Answer | Refusal<UpstreamRefusalCode>> {
  const { call } = hold;
  const providerCall = providerCallOf(call, hold.granted);
  let ending: Ending = FAILED;
  let completion: JsonObject;
  try {
    failpoint('lane.provider-wanted');
    completion = await lane.providerOf(call).complete(providerCall);
    failpoint('lane.provider-answered');
    const report = laterReport(undefined, completion['usage']);
    const bytes = generatedBytesIn(completion['choices'], 'message');
    ending = endingOf(hold, 'answered', { report, bytes, isPastLimit: bytes > outputLimitOf(hold).bytesMax });
    completion = shapeCompletion(completion, call.callId);
    completion = { ...completion, model: call.model.id, ...(report && { usage: usageToWire(ending.usage, report) }) };
  } catch (fault) {
    failpoint('lane.provider-failed');
    caller.rejections.note(lane.mode, call, fault);
    await lane.endHold(hold, FAILED);
    failpoint('lane.failure-settled');
    if (!(fault instanceof UpstreamError)) throw fault;
    if (lane.mode === 'live') {
      // In the sandbox it was asked for.
      const facts = { callId: call.callId, kind: fault.kind, fault: describeFault(fault) };
      caller.log.warn(facts, 'the provider failed a call');
    }
    return refusalOfUpstream(fault);
  }
  // Before the answer: what the caller reads as charged is charged, whatever happens next.
  const facts = answerFactsOf(call, providerCall.outputTokens);
  const answerOf = () => ({ ...facts, isStream: false, text: JSON.stringify(completion) });
  failpoint('lane.settling');
  const charged = await endKept(lane, { hold, ending, caller }, answerOf);
  failpoint('lane.settled');
  return { kind: 'plain', facts, charged, completion, onSent: keepUndelivered(call, caller, { answerOf, charged }) };
}
