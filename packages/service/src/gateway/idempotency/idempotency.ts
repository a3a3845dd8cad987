import { IDEMPOTENCY_KEY } from '@purser/contract/identifiers.ts';
import type { IdempotencyKey, IdempotencyDigests, IdempotencyScope } from '#idempotency/idempotency-key.ts';
import { KEPT_CHARACTERS_MAX, type SentAnswer } from '#idempotency/kept-answers.ts';
import type { ReplayedAnswer } from '#gateway/answer/answer.ts';
import type { CallerSide, ChatCall } from '#gateway/call/call.ts';
import type { Ending, Hold, HoldRefusalCode, Lane } from '#gateway/call/lane.ts';
import { replays } from '#gateway/idempotency/metrics.ts';
import type { EarlierCall } from '#kernel/hold.ts';
import type { CallId, Mode } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { sleep } from '#kernel/sleep.ts';

/** The headers that mark a call as an attempt. */
export interface RetryHeaders {
  readonly idempotencyKey: string | undefined;
  /** Of stock clients, which count their retries from 0 and name no key. */
  readonly retryCount: string | undefined;
}

/** The attempt that a call is; undefined for one that nothing can be a retry of, which costs it nothing. */
export function parseIdempotencyKey(
  digests: IdempotencyDigests,
  { idempotencyKey: key, retryCount }: RetryHeaders,
  call: IdempotencyScope & { readonly isStream: boolean; readonly bytes: Buffer },
): IdempotencyKey | undefined | Refusal<'BAD_REQUEST'> {
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key)) {
    return refuse('BAD_REQUEST', 'The header `idempotency-key` must be 1 to 255 visible ASCII characters.', {
      param: 'idempotency-key',
    });
  }
  // Stock clients do not retry a stream that has begun, and one that has not is charged nothing.
  if (key === undefined && (retryCount === undefined || call.isStream)) return undefined;
  return digests.keyOf(call, { key, joins: Number(retryCount) > 0 }, call.bytes);
}

/** As long as most clients and proxies wait for a first byte. */
const WAIT_MS_MAX = 25_000;
const WAIT_STEPS_MS = [25, 50, 100] as const;
const WAIT_STEP_MS = 200;
const WAITING_MAX = 1_000;
const RETRY_SECONDS = 1;

type Placed<M extends Mode> = Hold<M> | ReplayedAnswer | Refusal<HoldRefusalCode | 'CONFLICT'>;

/**
 * A hold for the call, unless an earlier attempt comes first: its answer, once it is there. One that fails leaves
 * nothing, and then the next in line holds for itself.
 */
export function placeOrJoin<M extends Mode>(lane: Lane<M>, call: ChatCall, caller: CallerSide): Promise<Placed<M>> {
  return lane.placeHold(call).then((placed) => ('earlier' in placed ? join(lane, { call, caller, placed }) : placed));
}

interface Joining {
  readonly call: ChatCall;
  readonly caller: CallerSide;
  /** What the first look found. */
  readonly placed: EarlierCall;
}

async function join<M extends Mode>(lane: Lane<M>, { call, caller, placed: first }: Joining): Promise<Placed<M>> {
  const { waiting } = caller.idempotency;
  let waitedMs = 0;
  let placed: Awaited<ReturnType<Lane<M>['placeHold']>> = first;
  for (let steps = 0; ; steps += 1) {
    if (!('earlier' in placed)) return placed;
    const { outcome, earlier } = placed;
    if (outcome === 'attempt_conflict') {
      return refuse('CONFLICT', 'This `idempotency-key` was used for another body. Use a new key for a new call.');
    }
    const replayed = outcome === 'attempt_kept' ? await replayOf(call, earlier, caller) : undefined;
    if (replayed !== undefined) return replayed;
    // It runs, or its time was over between the two looks.
    if (caller.gone.aborted || waitedMs >= WAIT_MS_MAX || waiting.callers >= WAITING_MAX) return stillRuns();
    const stepMs = WAIT_STEPS_MS[steps] ?? WAIT_STEP_MS;
    waitedMs += stepMs;
    waiting.callers += 1;
    await sleep(stepMs);
    waiting.callers -= 1;
    if (caller.gone.aborted) return stillRuns(); // To nobody.
    placed = await lane.placeHold(call, earlier);
  }
}

function stillRuns(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'An earlier attempt at this call still runs. Try again to get its answer.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

async function replayOf(
  { idempotencyKey }: ChatCall,
  callId: CallId,
  { idempotency: { answers } }: CallerSide,
): Promise<ReplayedAnswer | undefined> {
  const kept = idempotencyKey && (await answers.find(idempotencyKey, callId));
  if (idempotencyKey === undefined || kept === undefined) return undefined;
  const { isStream, text, charged, loweredOutputTokens } = kept;
  replays.add();
  const replayed = { kind: 'replayed', facts: { callId, loweredOutputTokens }, isStream, text, charged } as const;
  if (idempotencyKey.isKeyed) return replayed;
  // Without a key only what was not delivered is replayed, so what has been delivered now is not replayed again.
  return { ...replayed, onSent: (isDelivered) => void (isDelivered && answers.forget(callId)) };
}

/**
 * Ends a call. An answer that a retry may ask for is kept before its hold is gone: with a key always, else where its
 * caller has left, or where a retry waits for it already, of which the settlement tells.
 */
export function endKept<M extends Mode>(
  lane: Lane<M>,
  ended: EndedCall<M>,
  answerOf: () => SentAnswer | undefined,
): Promise<Micros> {
  const { hold, ending } = ended;
  const { idempotencyKey } = hold.call;
  if (idempotencyKey === undefined || ending.outcome !== 'answered') return lane.endHold(hold, ending);
  return endKeyed(lane, { ...ended, idempotencyKey }, answerOf);
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
): Promise<Micros> {
  const mustKeep = idempotencyKey.isKeyed || caller.gone.aborted;
  const charged = mustKeep ? undefined : await lane.endUnlessJoined(hold, ending);
  if (charged !== undefined) return charged;
  const answer = answerOf();
  if (answer === undefined)
    caller.log.warn({ callId: hold.call.callId }, 'a stream is too long to be kept for a retry');
  else await caller.idempotency.answers.keep(idempotencyKey, answer);
  return lane.endHold(hold, ending);
}

/** For an answer that turns out not to have reached its caller: a marked retry gets it (CC-14). */
export function keepUndelivered(
  { idempotencyKey }: ChatCall,
  { idempotency: { answers } }: CallerSide,
  { answerOf, charged }: { readonly answerOf: () => SentAnswer; readonly charged: Micros },
): ((isDelivered: boolean) => void) | undefined {
  if (idempotencyKey === undefined || idempotencyKey.isKeyed) return undefined;
  return (isDelivered) => void (isDelivered || answers.keep(idempotencyKey, answerOf(), charged));
}

/** The frames of a stream as they are sent, for one that a retry may ask for. */
export interface FrameRecord {
  readonly add: (frames: string) => void;
  /** All of them; undefined where nobody may ask, or where they are too many. */
  readonly text: () => string | undefined;
}

/** One for all calls that nobody may ask for again. */
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
