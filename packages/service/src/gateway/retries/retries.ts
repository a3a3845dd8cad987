import type { IdempotencyKey } from '#idempotency/idempotency-key.ts';
import { KEPT_CHARACTERS_MAX, type SentAnswer } from '#idempotency/kept-answers.ts';
import type { ReplayedAnswer } from '#gateway/answer/answer.ts';
import type { CallerSide, ChatCall } from '#gateway/call/call.ts';
import type { EndedHold, Ending, Hold, Lane, Placed, PlacedHold, RefusedHold } from '#gateway/call/lane.ts';
import { replays } from '#gateway/retries/metrics.ts';
import type { EarlierCall } from '#kernel/calls/hold.ts';
import type { CallId, Mode } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** This is as long as most clients and proxies wait for a first byte. */
const WAIT_MS_MAX = 25_000;
const WAIT_STEPS_MS = [25, 50, 100] as const;
const WAIT_STEP_MS = 200;
const WAITING_MAX = 1_000;
const RETRY_SECONDS = 1;

interface Joining {
  readonly call: ChatCall;
  readonly caller: CallerSide;
  /** What the first look found. */
  readonly earlier: EarlierCall;
}

/**
 * Waits for an earlier call with the same idempotency key and returns its answer. An earlier call that fails leaves nothing
 * behind, and then the next one in line places a hold of its own.
 */
export async function joinEarlier<M extends Mode>(
  lane: Lane<M>,
  { call, caller, earlier: first }: Joining,
): Promise<PlacedHold<M> | RefusedHold | RefusedJoin | ReplayedAnswer> {
  const { waiting } = caller.idempotency;
  let waitedMs = 0;
  let placed: Placed<M> = first;
  for (let steps = 0; placed.kind === 'earlier'; steps += 1) {
    const { state, callId } = placed;
    if (state === 'conflict') return otherBody();
    const replayed = state === 'kept' ? await replayOf(call, callId, caller) : undefined;
    if (replayed !== undefined) return replayed;
    // It runs, or its answer expired between the two looks.
    if (caller.gone.aborted || waitedMs >= WAIT_MS_MAX || waiting.callers >= WAITING_MAX) return stillRuns();
    const stepMs = WAIT_STEPS_MS[steps] ?? WAIT_STEP_MS;
    waitedMs += stepMs;
    waiting.callers += 1;
    await sleep(stepMs);
    waiting.callers -= 1;
    if (caller.gone.aborted) return stillRuns(); // Nobody reads it, and nothing new may be charged.
    placed = await lane.place(call, callId);
  }
  return placed;
}

interface RefusedJoin {
  readonly kind: 'refused';
  readonly refusal: Refusal<'CONFLICT'>;
}

function stillRuns(): RefusedJoin {
  const message = 'An earlier call with the same key or body still runs. Try again to get its answer.';
  return { kind: 'refused', refusal: refuse('CONFLICT', message, { retryAfterSeconds: RETRY_SECONDS }) };
}

function otherBody(): RefusedJoin {
  const message = 'This `idempotency-key` was used for another body. Use a new key for a new call.';
  return { kind: 'refused', refusal: refuse('CONFLICT', message) };
}

async function replayOf(
  { idempotencyKey, reply, leftOut }: ChatCall,
  callId: CallId,
  { idempotency: { answers } }: CallerSide,
): Promise<ReplayedAnswer | undefined> {
  const kept = idempotencyKey && (await answers.find(idempotencyKey, callId));
  if (idempotencyKey === undefined || kept === undefined) return undefined;
  const { isStream, charged, loweredOutputTokens, end } = kept;
  const text = end === undefined ? kept.text : kept.text + reply.endFrames(end, charged);
  replays.add();
  const replayed = {
    kind: 'replayed',
    facts: { callId, leftOut, loweredOutputTokens },
    isStream,
    text,
    charged,
  } as const;
  if (idempotencyKey.isKeyed) return replayed;
  // Without a key, only an undelivered answer is replayed. Once it is delivered, it must not be replayed again.
  return { ...replayed, onSent: (isDelivered) => void (isDelivered && answers.forget(callId)) };
}

/**
 * Ends a call. An answer that a retry may ask for is kept before the hold is gone. That is every answer of a call with a
 * key; without one, the answer of a caller who has left, or one that a retry waits for already: the settlement says so. `isKept`
 * tells that it was, so that it is not kept once more behind the retry that has got it.
 */
export function endKept<M extends Mode>(
  lane: Lane<M>,
  ended: EndedCall<M>,
  answerOf: () => SentAnswer | undefined,
): Promise<KeptEnd> {
  const { hold, ending } = ended;
  const { idempotencyKey } = hold.call;
  if (idempotencyKey === undefined || ending.outcome !== 'answered') return lane.settle(hold, ending, 'always');
  return endKeyed(lane, { ...ended, idempotencyKey }, answerOf);
}

interface KeptEnd extends EndedHold {
  readonly isKept?: boolean;
}

interface EndedCall<M extends Mode> {
  readonly hold: Hold<M>;
  readonly ending: Ending;
  readonly caller: CallerSide;
}

async function endKeyed<M extends Mode>(
  lane: Lane<M>,
  { hold, ending, caller, idempotencyKey }: EndedCall<M> & { readonly idempotencyKey: IdempotencyKey },
  answerOf: () => SentAnswer | undefined,
): Promise<KeptEnd> {
  const mustKeep = idempotencyKey.isKeyed || caller.gone.aborted;
  if (!mustKeep) {
    const ended = await lane.settle(hold, ending, 'unless-joined');
    if (ended.isJoined !== true) return ended;
  }
  const answer = answerOf();
  if (answer === undefined)
    caller.log.warn({ callId: hold.call.callId }, 'a stream is too long to be kept for a retry');
  else await caller.idempotency.answers.keep(idempotencyKey, answer, { isWaiting: !caller.gone.aborted });
  return { ...(await lane.settle(hold, ending, 'always')), isKept: answer !== undefined };
}

/** Keeps an answer that did not reach its caller after all, so that a marked retry gets it (CC-14). */
export function keepUndelivered(
  { idempotencyKey }: ChatCall,
  { idempotency: { answers } }: CallerSide,
  { answerOf, charged }: { readonly answerOf: () => SentAnswer; readonly charged: Micros },
): ((isDelivered: boolean) => void) | undefined {
  if (idempotencyKey === undefined || idempotencyKey.isKeyed) return undefined;
  return (isDelivered) => void (isDelivered || answers.keep(idempotencyKey, answerOf(), { isWaiting: false, charged }));
}

/** Records the frames of a stream as they are sent, if a retry may ask for them. */
export interface FrameRecord {
  readonly add: (frames: string) => void;
  /** All frames; undefined if no retry may ask for them, or if they are too long to be kept. */
  readonly text: () => string | undefined;
}

/** This record is shared by all calls that cannot be retried, so that they allocate nothing. */
const NO_RECORD: FrameRecord = { add: () => {}, text: () => undefined };

export function createFrameRecord({ idempotencyKey }: ChatCall): FrameRecord {
  if (idempotencyKey === undefined) return NO_RECORD;
  const parts: string[] = [];
  let characters = 0;
  return {
    add: (frames) => {
      characters += frames.length;
      if (characters <= KEPT_CHARACTERS_MAX) parts.push(frames);
    },
    text: () => (characters > KEPT_CHARACTERS_MAX ? undefined : parts.join('')),
  };
}
