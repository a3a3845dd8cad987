import { outputLimitFor } from '#gateway/usage/hold-request.ts';
import { type Answer, answerFactsOf, endFailed } from '#gateway/answer/answer.ts';
import type { UpstreamRefusalCode } from '#gateway/answer/upstream-refusals.ts';
import type { AskingCall, CallerSide } from '#gateway/call/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import { endKept, joinEarlier, keepUndelivered } from '#gateway/retries/retries.ts';
import { openStream } from '#gateway/stream/stream.ts';
import { endingOf, FAILED } from '#gateway/usage/ending.ts';
import { generatedIn } from '#gateway/usage/generated.ts';
import { addsUp, toldUsage } from '#gateway/usage/usage-report.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Mode } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Completion, LargeAnswer } from '#providers/port/completion.ts';

type LaneRefusalCode = HoldRefusalCode | UpstreamRefusalCode | 'CONFLICT' | 'BAD_REQUEST';

/**
 * Takes a valid call from its hold to its answer, in three steps: hold, provider, settlement. Every way out ends the hold,
 * once.
 */
export async function runInLane<M extends Mode>(
  lane: Lane<M>,
  asking: AskingCall,
  caller: CallerSide,
): Promise<Answer | Refusal<LaneRefusalCode>> {
  const { call } = asking;
  const { times } = caller.notes;
  times.admittedMs = steadyClock.nowMs();
  // Nearly every call comes first, and waits for one promise here; only a retry waits for more.
  const first = await lane.place(call);
  const placed = first.kind === 'earlier' ? await joinEarlier(lane, { call, caller, earlier: first }) : first;
  if (placed.kind === 'refused') return placed.refusal;
  if (placed.kind === 'replayed') return placed;
  times.heldMs = steadyClock.nowMs();
  const { hold } = placed;
  // Only now, because a wallet's refusal comes first: a user who has disconnected gets what a stranger gets (CC-15).
  const rejection = hold.plays === undefined ? caller.rejections.find(lane.mode, asking) : undefined;
  if (rejection !== undefined) return endFailed(lane, { hold, ending: FAILED, caller }, rejection);
  const route = lane.routeOf(hold, caller.gone);
  caller.notes.served = route;
  const lowered = route.outputTokens < call.outputTokensAsked ? call.reply.refusalOfLowered : undefined;
  if (lowered !== undefined) return endUnasked(lane, { hold, caller }, lowered(call, route.outputTokens));
  if (call.isStream) return openStream(lane, { hold, asked: asking.asked, route }, caller);

  // A plain call runs to its end even if its caller leaves, because its answer is paid for (CC-11).
  let completion: Completion | undefined;
  let whole: Whole;
  try {
    // In this function, because a promise more for each call would cost more than the loop.
    while (completion === undefined) {
      try {
        const turn = route.begin();
        if (turn !== undefined) await turn;
        times.askedMs ||= steadyClock.nowMs();
        completion = await lane.providerOf(hold, route).complete(route.callOf(asking.asked));
        route.answered();
      } catch (fault) {
        const told = route.failed(fault);
        if (told !== undefined) throw told;
      }
    }
    whole =
      completion.large === undefined
        ? wholeOf(hold, route, completion)
        : await largeOf(hold, route, completion, completion.large);
  } catch (fault) {
    return endFailed(lane, { hold, ending: FAILED, caller, asking }, fault);
  }
  times.endedMs = steadyClock.nowMs();
  const { text, ending } = whole;
  const facts = answerFactsOf(call, route.outputTokens);
  // Settled before it is answered: the charge that the caller reads is on the books, even if the process dies next.
  if (call.idempotencyKey === undefined) {
    const { charged } = await lane.settle(hold, ending, 'always'); // Nearly every call: nobody asks for its answer again.
    caller.notes.settled(ending, charged);
    return { kind: 'plain', facts, charged, text, onSent: undefined };
  }
  const answerOf = () => ({ ...facts, isStream: false, text });
  const { charged, isKept = false } = await endKept(lane, { hold, ending, caller }, answerOf);
  caller.notes.settled(ending, charged);
  const onSent = isKept ? undefined : keepUndelivered(call, caller, { answerOf, charged });
  return { kind: 'plain', facts, charged, text, onSent };
}

/** Ends a call that nobody is asked for after all. */
async function endUnasked<M extends Mode>(
  lane: Lane<M>,
  { hold, caller: { notes } }: { readonly hold: Hold<M>; readonly caller: CallerSide },
  refusal: Refusal<LaneRefusalCode>,
): Promise<Refusal<LaneRefusalCode>> {
  notes.times.endedMs = steadyClock.nowMs();
  const { charged } = await lane.settle(hold, FAILED, 'always');
  notes.settled(FAILED, charged);
  return refusal;
}

interface Whole {
  /** The caller's answer as JSON. Made once, and before the settlement: a large answer is not kept in two forms meanwhile. */
  readonly text: string;
  readonly ending: Ending;
}

/** What a provider's whole answer is charged, and what the caller gets of it. */
function wholeOf(hold: Hold<Mode>, route: Route, completion: Completion): Whole {
  const ending = endingOfWhole(hold, route, completion);
  return { ending, text: JSON.stringify(seenOf(hold, completion, ending)) };
}

/** Makes a whole answer that is large. Each step takes tens of milliseconds, so other calls are served between them. */
async function largeOf(hold: Hold<Mode>, route: Route, completion: Completion, large: LargeAnswer): Promise<Whole> {
  try {
    await large.nextStep();
    const ending = endingOfWhole(hold, route, completion);
    const seen = seenOf(hold, completion, ending);
    await large.nextStep();
    return { ending, text: JSON.stringify(seen) };
  } finally {
    large.leave();
  }
}

function endingOfWhole(hold: Hold<Mode>, { upstream, outputTokens }: Route, { choices, usage }: Completion): Ending {
  const { call } = hold;
  const { bytes, count } = generatedIn(choices, call.model.tokenizer);
  const limit = outputLimitFor(call, outputTokens);
  // The size of an answer decides nothing beside a usage that adds up (CC-23).
  const isPastLimit = bytes > limit.bytesMax && !addsUp(usage);
  const told = { report: usage, isReportLast: true, isFinished: true, count };
  return endingOf(hold, 'answered', { ...told, upstream, isPastLimit, limit });
}

function seenOf({ call }: Hold<Mode>, completion: Completion, ending: Ending): JsonObject {
  const { usage } = completion;
  return call.reply.plain(call, completion, toldUsage(ending.usage, usage));
}
