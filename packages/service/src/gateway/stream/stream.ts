import { type Answer, answerFactsOf, endFailed } from '#gateway/answer/answer.ts';
import type { SentAnswer } from '#idempotency/kept-answers.ts';
import { createFrameRecord, endKept, type FrameRecord } from '#gateway/retries/retries.ts';
import type { Asked, CallerSide } from '#gateway/call/call.ts';
import { type CallerWatch, watchCaller } from '#gateway/stream/caller-watch.ts';
import { createKeptAlive, isSettledWithin, type KeptAlive } from '#gateway/stream/keep-alive.ts';
import type { Ending, Hold, Lane } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/answer/upstream-refusals.ts';
import { createStreamTally, type StreamTally } from '#gateway/stream/stream-tally.ts';
import { FAILED } from '#gateway/usage/ending.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Signal } from '#kernel/work/signal.ts';
import { type ChunkSource, type StreamChunk, type TakeChunks, UpstreamError } from '#providers/port/provider.ts';

/**
 * Frames of small chunks are joined into one write, because each write costs a system call. A write is not much longer than
 * this: what a reader does not take of it waits in our memory.
 */
const WRITE_CHARACTERS_MAX = 48 * 1024;

/**
 * Opens a stream and waits for its first chunks, so that an early failure still gets a status of its own. After
 * `statusMsMax` it answers without them and waits in the stream, because clients give up on a response without a head.
 */
export async function openStream<M extends Mode>(
  lane: Lane<M>,
  stream: AskedStream<M>,
  caller: CallerSide,
): Promise<Answer | Refusal<UpstreamRefusalCode>> {
  const { hold, route } = stream;
  const { call } = hold;
  if (caller.gone.aborted) return leaveUnsent(lane, hold, caller);
  const upstream = watchCaller(lane, { hold, serving: route }, caller);
  const tally = createStreamTally(hold, route);
  const opening = openUpstream(lane, stream, { caller, signal: upstream.signal });
  const sent = createFrameRecord(call);
  try {
    failpoint('stream.awaited');
    const isInTime = await isSettledWithin(opening, caller.pace.statusMsMax);
    failpoint('stream.status-known');
    if (isInTime) await opening; // Throws an early failure, which then has a status of its own.
    return {
      kind: 'stream',
      facts: answerFactsOf(call, route.outputTokens),
      // Nothing in this closure may reach `stream`, which holds what was asked (`AskedStream`).
      run: (writer) => {
        const alive = () => aliveIn(tally, sent);
        const out = createKeptAlive(writer, caller.pace, { gone: caller.gone, clock: steadyClock, alive });
        return relay({ lane, hold, route, caller, upstream, tally, opening, isLate: !isInTime, out, sent, held: '' });
      },
    };
  } catch (fault) {
    upstream.stop();
    return endFailed(lane, { hold, ending: endingAfter(fault, upstream, tally, caller.log), caller }, fault);
  }
}

/** The frames of a sign of life. Those that are no comment are a part of the answer, also of one that is kept. */
function aliveIn(tally: StreamTally, sent: FrameRecord): string {
  const frames = tally.reply.alive();
  if (!frames.startsWith(':')) sent.add(frames);
  return frames;
}

interface Opened {
  /**
   * The first chunks. They are emptied when they are relayed, because their text is as long as the read in which it
   * came, and would wait for the settlement.
   */
  first: readonly StreamChunk[];
  readonly chunks: ChunkSource;
}

/** A stream that is to be opened. `asked` may be as large as a book, so nothing may hold it once the stream has begun. */
interface AskedStream<M extends Mode> {
  readonly hold: Hold<M>;
  readonly route: Route;
  readonly asked: Asked;
}

interface CallerEnd {
  readonly caller: CallerSide;
  readonly signal: Signal;
}

/**
 * Calls one upstream after the other until the first chunks of one have come (CC-16). Every failure rejects the promise, a missing client too, because
 * `openStream` or the relay waits for it and ends the hold. Notes a rejection here (CC-15), because nothing later has what was asked.
 */
async function openUpstream<M extends Mode>(
  { mode, providerOf }: Lane<M>,
  { hold, asked, route }: AskedStream<M>,
  { caller, signal }: CallerEnd,
): Promise<Opened> {
  for (;;) {
    try {
      const turn = route.begin();
      if (turn !== undefined) await turn;
      caller.notes.times.askedMs ||= steadyClock.nowMs();
      const chunks = await providerOf(hold, route).stream(route.callOf(asked), route.signalFor(signal));
      const first = await chunks.first();
      if (first === undefined) throw new UpstreamError('cut', 'The provider ended a stream before it began.');
      route.answered();
      return { first, chunks };
    } catch (fault) {
      const told = route.failed(fault);
      if (told === undefined) continue;
      if (hold.plays === undefined) caller.rejections.note(mode, { call: hold.call, asked }, told);
      throw told;
    }
  }
}

/** The caller left before anything was sent to the provider. Nothing is owed, and nobody reads the refusal. */
async function leaveUnsent<M extends Mode>(
  lane: Lane<M>,
  hold: Hold<M>,
  { notes }: CallerSide,
): Promise<Refusal<UpstreamRefusalCode>> {
  notes.times.endedMs = steadyClock.nowMs();
  const { charged } = await lane.settle(hold, FAILED, 'always');
  notes.settled(FAILED, charged);
  return refusalOfUpstream(new UpstreamError('unsent', 'The caller left before the provider was called.'));
}

interface Relay<M extends Mode> {
  readonly lane: Lane<M>;
  readonly hold: Hold<M>;
  readonly route: Route;
  readonly caller: CallerSide;
  readonly upstream: CallerWatch;
  readonly tally: StreamTally;
  readonly opening: Promise<Opened>;
  /** The provider has not begun, and the caller has waited long enough for a sign of life. */
  readonly isLate: boolean;
  readonly out: KeptAlive;
  readonly sent: FrameRecord;
  /** Frames that came together with the end of the stream. They leave with it in one write, after the settlement. */
  held: string;
}

/**
 * Relays chunks to the end or to the limit, settles, and then says what was charged and that the stream is done. In this
 * order, because a caller who has read `[DONE]` must find the charge on the books (CC-08).
 */
async function relay<M extends Mode>(stream: Relay<M>): Promise<void> {
  const { lane, hold, route, caller, upstream, tally, out } = stream;
  try {
    await pump(stream);
    out.stop(); // A sign of life would overtake the frames that wait for the settlement, and an event has its number.
    caller.notes.times.endedMs = steadyClock.nowMs();
    route.ended();
    checkEnd(tally, upstream);
    const outcome = isForNobody(stream) ? 'abandoned' : 'answered';
    const ending = tally.endingAs(outcome);
    const { charged } = await endKept(lane, { hold, ending, caller }, () => answerOf(stream));
    caller.notes.settled(ending, charged);
    await out.end(stream.held + tally.cutFrames() + hold.call.reply.endFrames(tally.end(), charged));
  } catch (fault) {
    // Nothing may escape here: the status is out, and the caller learns of the failure from the last frame alone (ER-06).
    const ending = endingAfter(fault, upstream, tally, caller.log);
    upstream.giveUp(); // Nobody reads on after a failure.
    out.stop();
    route.ended(fault);
    const failed = { hold, ending, caller };
    const refusal = await endFailed(lane, failed, fault).catch((other: unknown) => refusalAfter(stream, fault, other));
    caller.notes.code = refusal?.code ?? 'INTERNAL_SERVER_ERROR';
    await out.fail(stream.held, refusal, tally.reply.fail);
  } finally {
    upstream.stop();
  }
}

/**
 * Ends a stream whose next chunk is too large to be taken, or whose provider was lost after the caller had held the stream up: it gave
 * up waiting, and the caller could have most of an answer for nothing. The provider bills what it has generated, so the caller keeps and
 * pays that, as after a cut at the limit (CC-11). Any other failure is thrown again.
 */
function endShort<M extends Mode>({ tally, upstream, out, caller }: Relay<M>, fault: unknown): void {
  const kind = fault instanceof UpstreamError ? fault.kind : undefined;
  const isHeldUp = (kind === 'outage' || kind === 'timeout') && out.heldUpMs() >= caller.pace.heldUpMsMax;
  if ((kind !== 'too-large' && !isHeldUp) || !tally.cutShort()) throw fault;
  upstream.giveUp();
}

/** Whether its caller has left, and no repeat can ask for it (CC-14). */
function isForNobody<M extends Mode>({ caller, sent }: Relay<M>): boolean {
  return caller.gone.aborted && sent.text() === undefined;
}

/** A stream that has come to its end, as a caller who stayed gets it. Undefined if it cannot be kept. */
function answerOf<M extends Mode>({ hold: { call }, route, tally, sent }: Relay<M>): SentAnswer | undefined {
  sent.add(tally.cutFrames());
  const text = sent.text();
  const facts = answerFactsOf(call, route.outputTokens);
  return text === undefined ? undefined : { ...facts, isStream: true, text, end: tally.end() };
}

/** Throws if the stream ended without a reason to finish. One that was cut at its limit needs none. */
function checkEnd(tally: StreamTally, upstream: CallerWatch): void {
  if (tally.isPastLimit()) upstream.giveUp();
  else if (!tally.isFinished()) {
    throw new UpstreamError('cut', 'The provider ended a stream without a reason to finish.');
  }
  upstream.stop(); // A caller who leaves from now on leaves a whole answer, which a retry may get, and starts no drain.
}

/** Relays chunks in the turn in which they are read: a promise for each read would cost more than relaying it. */
async function pump<M extends Mode>(stream: Relay<M>): Promise<void> {
  const { opening, isLate, out, caller } = stream;
  if (isLate) await out.tell();
  const opened = await opening;
  caller.notes.times.firstByteMs = steadyClock.nowMs();
  const { first, chunks } = opened;
  opened.first = [];
  const pass = passTo(stream, chunks);
  const isMore = await pass(first);
  try {
    if (isMore) await chunks.rest(pass);
  } catch (fault) {
    endShort(stream, fault);
  }
}

/**
 * Returns what takes the chunks of each read. It writes their frames at once, but holds those that came together with the end
 * of the stream: they leave with the end, in one write. It returns a promise only if the caller cannot take more yet, and the
 * source reads nothing until that resolves (back-pressure).
 */
function passTo<M extends Mode>(stream: Relay<M>, chunks: ChunkSource): TakeChunks {
  const { tally, sent } = stream;

  function hold(frames: string): void {
    stream.held += frames;
    sent.add(frames);
  }

  function pass(next: readonly StreamChunk[]): boolean | Promise<boolean> {
    let frames = '';
    for (const [index, chunk] of next.entries()) {
      frames += tally.take(chunk);
      // A long read is written in parts, so that at most one part waits for a reader who takes nothing.
      const isWhole = frames.length >= WRITE_CHARACTERS_MAX;
      if (!isWhole && index < next.length - 1) continue;
      if (!isWhole && chunks.isWhole()) hold(frames);
      else {
        const writing = send(stream, frames);
        if (writing !== undefined) {
          return writing.then(() => {
            return pass(next.slice(index + 1));
          });
        }
      }
      frames = '';
    }
    return !tally.isPastLimit();
  }
  return pass;
}

/** Writes frames if the caller is there, and counts them for the drain if not. A repeat gets them either way (CC-14). */
function send<M extends Mode>({ caller, upstream, out, sent }: Relay<M>, frames: string): Promise<void> | undefined {
  if (caller.gone.aborted) upstream.drained(frames.length);
  if (frames === '') return undefined;
  sent.add(frames);
  return caller.gone.aborted ? undefined : out.write(frames);
}

/** The refusal of a stream after a fault of ours: in the relay itself, in the settlement (`other`), or in both. */
function refusalAfter<M extends Mode>(
  { hold: { call }, caller: { gone, log } }: Relay<M>,
  fault: unknown,
  other: unknown,
): Refusal<UpstreamRefusalCode> | undefined {
  const { callId } = call;
  const isOurs = !(fault instanceof UpstreamError);
  if (isOurs)
    log.warn({ callId, kind: 'fault', isGone: gone.aborted, fault: describeFault(fault) }, 'a stream ended early');
  if (other !== fault) log.error({ callId, fault: describeFault(other) }, 'a stream could not be settled');
  return isOurs ? undefined : refusalOfUpstream(fault);
}

/**
 * What a call pays that did not come to its end (CC-11). If the caller left and we gave up, they pay for the prompt and what
 * was generated. A failure of the provider is free, even if it came after we gave up. So is a request that never reached the
 * provider.
 */
function endingAfter(fault: unknown, upstream: CallerWatch, tally: StreamTally, log: Log): Ending {
  const isProvidersFault = fault instanceof UpstreamError && fault.kind !== 'given-up';
  return upstream.signal.aborted && !isProvidersFault ? tally.endingLeft(log) : FAILED;
}
