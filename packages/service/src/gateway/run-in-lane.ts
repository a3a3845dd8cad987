import { type Answer, answerFactsOf, providerCallOf } from '#gateway/answer.ts';
import type { CallerSide, ChatCall, UnderWay } from '#gateway/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/lane.ts';
import { countEnding } from '#gateway/metrics.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/refusals.ts';
import { openStream } from '#gateway/stream.ts';
import { endingOf, FAILED, generatedBytesOf, usageReported } from '#gateway/usage.ts';
import type { Mode } from '#kernel/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
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
  const hold = await lane.placeHold(call);
  if (hold instanceof Refusal) return hold;
  const counted = counting(lane, caller.underWay);
  return call.isStream ? openStream(counted, hold, caller) : completeWhole(counted, hold, caller);
}

/** The lane, with its calls counted from their hold to its end. */
function counting<M extends Mode>(lane: Lane<M>, underWay: UnderWay): Lane<M> {
  underWay.calls += 1;
  let isCounted = true;
  return {
    ...lane,
    endHold: async (hold, ending) => {
      try {
        const charged = await lane.endHold(hold, ending);
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
    completion = await lane.providerOf(call).complete(providerCall);
    ending = endingOf(call, 'answered', usageReported(completion['usage']), generatedBytesIn(completion));
  } catch (fault) {
    await lane.endHold(hold, FAILED);
    if (!(fault instanceof UpstreamError)) throw fault;
    log.warn({ callId: call.callId, kind: fault.kind, fault: describeFault(fault) }, 'the provider failed a call');
    return refusalOfUpstream(fault);
  }
  // Before the answer: what the caller reads as charged is charged, whatever happens next.
  const charged = await lane.endHold(hold, ending);
  const facts = answerFactsOf(call, providerCall.outputTokens);
  return { kind: 'plain', facts, charged, completion: { ...completion, model: call.model.id } };
}

function generatedBytesIn(completion: JsonObject): number {
  const { choices } = completion;
  if (!Array.isArray(choices)) return 0;
  return choices.reduce<number>(
    (sum, choice) => sum + generatedBytesOf(isJsonObject(choice) ? choice['message'] : 0),
    0,
  );
}
