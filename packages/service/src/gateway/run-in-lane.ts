import { type Answer, answerFactsOf, providerCallOf } from '#gateway/answer.ts';
import { shapeCompletion } from '#gateway/answer-shape.ts';
import type { CallerSide, ChatCall } from '#gateway/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/lane.ts';
import { countEnding } from '#gateway/metrics.ts';
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

type LaneRefusalCode = HoldRefusalCode | UpstreamRefusalCode;

/** From a hold to an answer: hold, provider, settlement. Whatever happens, the hold is ended once. */
export async function runInLane<M extends Mode>(
  lane: Lane<M>,
  call: ChatCall,
  caller: CallerSide,
): Promise<Answer | Refusal<LaneRefusalCode>> {
  failpoint('lane.hold-wanted');
  const hold = await lane.placeHold(call);
  failpoint('lane.held');
  if (hold instanceof Refusal) return hold;
  const counted = counting(lane, caller);
  return call.isStream ? openStream(counted, hold, caller) : completeWhole(counted, hold, caller);
}

/** The lane, with its calls counted from their hold to its end, and what a provider did wrong told to the log. */
function counting<M extends Mode>(lane: Lane<M>, { underWay, log }: CallerSide): Lane<M> {
  underWay.calls += 1;
  let isCounted = true;
  return {
    ...lane,
    endHold: async (hold, ending) => {
      const { isPastLimit, isUsageClamped } = ending;
      if (isUsageClamped && isCounted) {
        const { callId, model } = hold.call;
        log.warn({ callId, model: model.id, isPastLimit }, 'a provider contradicted itself or its limits');
      }
      try {
        failpoint('lane.ending');
        const charged = await lane.endHold(hold, ending);
        failpoint('lane.ended');
        if (isCounted) countEnding(hold, ending, charged);
        return charged;
      } finally {
        if (isCounted) underWay.calls -= 1;
        isCounted = false;
      }
    },
  };
}

/** A plain call. It runs to its end when its caller leaves: its answer is paid for (CC-11). */
async function completeWhole<M extends Mode>(
  lane: Lane<M>,
  hold: Hold<M>,
  { log }: CallerSide,
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
    await lane.endHold(hold, FAILED);
    failpoint('lane.failure-settled');
    if (!(fault instanceof UpstreamError)) throw fault;
    log.warn({ callId: call.callId, kind: fault.kind, fault: describeFault(fault) }, 'the provider failed a call');
    return refusalOfUpstream(fault);
  }
  // Before the answer: what the caller reads as charged is charged, whatever happens next.
  failpoint('lane.settling');
  const charged = await lane.endHold(hold, ending);
  failpoint('lane.settled');
  const facts = answerFactsOf(call, providerCall.outputTokens);
  return { kind: 'plain', facts, charged, completion };
}
