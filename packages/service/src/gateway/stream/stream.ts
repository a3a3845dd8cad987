import { type Answer, answerFactsOf, providerCallOf } from '#gateway/answer/answer.ts';
import type { SentAnswer } from '#idempotency/kept-answers.ts';
import { createFrameRecord, endKept, type FrameRecord } from '#gateway/idempotency/idempotency.ts';
import type { Asked, CallerSide } from '#gateway/call/call.ts';
import { outputTokensWithin } from '#gateway/usage/hold-request.ts';
import { type CallerWatch, watchCaller } from '#gateway/stream/caller-watch.ts';
import { errorFrame } from '#gateway/answer/frames.ts';
import { createKeptAlive, isSettledWithin, type KeptAlive } from '#gateway/stream/keep-alive.ts';
import type { Ending, Hold, Lane } from '#gateway/call/lane.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/answer/refusals.ts';
import { createStreamTally, type StreamTally } from '#gateway/stream/stream-tally.ts';
import { FAILED } from '#gateway/usage/ending.ts';
import { steadyClock } from '#kernel/clock.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { Mode } from '#kernel/ids.ts';
import { describeFault } from '#kernel/log.ts';
import type { Refusal } from '#kernel/refusal.ts';
import type { Signal } from '#kernel/signal.ts';
import { type ChunkSource, type StreamChunk, type TakeChunks, UpstreamError } from '#providers/provider.ts';

/** Of small chunks many are written at once, but no more than this and a row of them. */
const WRITE_CHARACTERS_MAX = 48 * 1024;

/**
 * Opens a stream and waits for its first chunks, so that an early failure still gets a status of its own. A provider that
 * thinks for too long is waited for in the stream: clients give up on a silent head.
 */
export async function openStream<M extends Mode>(
  lane: Lane<M>,
  stream: AskedStream<M>,
  caller: CallerSide,
): Promise<Answer | Refusal<UpstreamRefusalCode>> {
  const { hold } = stream;
  const { call } = hold;
  if (caller.gone.aborted) return leaveUnsent(lane, hold);
  const upstream = watchCaller(lane, hold, caller);
  const tally = createStreamTally(hold);
  const opening = openUpstream(lane, stream, { caller, signal: upstream.signal });
  const sent = createFrameRecord(call);
  try {
    failpoint('stream.awaited');
    const isInTime = await isSettledWithin(opening, caller.pace.statusMsMax);
    if (isInTime) await opening;
    failpoint('stream.status-known');
    return {
      kind: 'stream',
      facts: answerFactsOf(call, outputTokensWithin(call, hold.granted)),
      run: (writer) => {
        const out = createKeptAlive(writer, caller.pace, { gone: caller.gone, clock: steadyClock });
        return relay({ lane, hold, caller, upstream, tally, opening, isLate: !isInTime, out, sent, held: '' });
      },
    };
  } catch (fault) {
    upstream.stop();
    failpoint('stream.open-failed');
    await lane.endHold(hold, endingAfter(fault, upstream, tally));
    failpoint('stream.open-failure-settled');
    if (!(fault instanceof UpstreamError)) throw fault;
    logFailure(caller, hold, fault);
    return refusalOfUpstream(fault);
  }
}

interface Opened {
  readonly first: readonly StreamChunk[];
  readonly chunks: ChunkSource;
}

/** A stream that is to be opened. What is asked is let go with its first chunk, however long it runs after that. */
interface AskedStream<M extends Mode> {
  readonly hold: Hold<M>;
  readonly asked: Asked;
}

interface CallerEnd {
  readonly caller: CallerSide;
  readonly signal: Signal;
}

/** Whatever fails, also on the way to the provider's client, is a rejection: the hold is ended by who waits for it. */
async function openUpstream<M extends Mode>(
  { mode, providerOf }: Lane<M>,
  { hold: { call, granted }, asked }: AskedStream<M>,
  { caller, signal }: CallerEnd,
): Promise<Opened> {
  const asking = { call, asked };
  try {
    failpoint('stream.opening');
    const chunks = await providerOf(call).stream(providerCallOf(asking, granted), signal);
    failpoint('stream.opened');
    const first = await chunks.first();
    failpoint('stream.first-chunk');
    if (first === undefined) throw new UpstreamError('cut', 'The provider ended a stream before it began.');
    return { first, chunks };
  } catch (fault) {
    caller.rejections.note(mode, asking, fault);
    throw fault;
  }
}

/** The caller left before anything was sent: nothing is owed, and nobody reads the answer. */
async function leaveUnsent<M extends Mode>(lane: Lane<M>, hold: Hold<M>): Promise<Refusal<UpstreamRefusalCode>> {
  failpoint('stream.unsent');
  await lane.endHold(hold, FAILED);
  failpoint('stream.unsent-settled');
  return refusalOfUpstream(new UpstreamError('unsent', 'The caller left before the provider was called.'));
}

interface Relay<M extends Mode> {
  readonly lane: Lane<M>;
  readonly hold: Hold<M>;
  readonly caller: CallerSide;
  readonly upstream: CallerWatch;
  readonly tally: StreamTally;
  readonly opening: Promise<Opened>;
  /** The provider has not begun, and the caller has waited long enough for a sign. */
  readonly isLate: boolean;
  readonly out: KeptAlive;
  readonly sent: FrameRecord;
  /** Frames that came with the end of the stream, and wait for it. */
  held: string;
}

/** Relays chunks to their end, or to their limit, settles, and only then says that the stream is done. */
async function relay<M extends Mode>(stream: Relay<M>): Promise<void> {
  const { lane, hold, caller, upstream, tally, out } = stream;
  try {
    failpoint('stream.relaying');
    await pump(stream);
    failpoint('stream.pumped');
    checkEnd(tally, upstream);
    const outcome = caller.gone.aborted ? 'abandoned' : 'answered';
    await endKept(lane, { hold, ending: tally.endingAs(outcome), caller }, () => answerOf(stream));
    failpoint('stream.settled');
    out.stop();
    await out.end(stream.held + tally.closingFrames());
    failpoint('stream.closed');
  } catch (fault) {
    // Nothing may escape here: the status is out, and the caller's side has only this frame to learn from (ER-06).
    logFailure(caller, hold, fault);
    const ending = endingAfter(fault, upstream, tally);
    upstream.giveUp(); // Whatever failed, nobody reads on.
    failpoint('stream.failed');
    await settleQuietly(stream, ending);
    failpoint('stream.failure-settled');
    out.stop();
    await out.end(stream.held + errorFrame(fault, hold.call.correlationId));
    failpoint('stream.failure-told');
  } finally {
    upstream.stop();
  }
}

/** All that a caller who is there gets of a stream that has come to its end. */
function answerOf<M extends Mode>({ hold: { call, granted }, tally, sent }: Relay<M>): SentAnswer | undefined {
  sent.add(tally.closingFrames());
  const text = sent.text();
  const facts = answerFactsOf(call, outputTokensWithin(call, granted));
  return text === undefined ? undefined : { ...facts, isStream: true, text };
}

/** A stream that was cut at its limit needs no reason to finish, and nobody reads on. */
function checkEnd(tally: StreamTally, upstream: CallerWatch): void {
  if (tally.isPastLimit()) upstream.giveUp();
  else if (!tally.isFinished()) {
    throw new UpstreamError('cut', 'The provider ended a stream without a reason to finish.');
  }
  upstream.stop(); // Who leaves from now on leaves an answer, which a retry may get, and no drain.
}

/** Relays what comes, in the turn in which it is read. */
async function pump<M extends Mode>(stream: Relay<M>): Promise<void> {
  const { opening, isLate, out } = stream;
  failpoint('stream.first-awaited');
  if (isLate) await out.tell();
  const { first, chunks } = await opening;
  failpoint('stream.begun');
  const pass = passTo(stream, chunks);
  const isMore = await pass(first);
  failpoint('stream.first-passed');
  if (isMore) await chunks.rest(pass);
  failpoint('stream.all-passed');
}

/** What is done with the chunks of a read. The frames of those that came with the end are held: they leave with it, in one write. */
function passTo<M extends Mode>(stream: Relay<M>, chunks: ChunkSource): TakeChunks {
  const { tally, caller, sent } = stream;

  function hold(frames: string): void {
    stream.held += frames;
    if (!caller.gone.aborted) sent.add(frames);
  }

  function pass(next: readonly StreamChunk[]): boolean | Promise<boolean> {
    failpoint('stream.chunk-read');
    let frames = '';
    for (const [index, chunk] of next.entries()) {
      frames += tally.take(chunk);
      // In parts, so that no more than one waits for a reader who takes nothing.
      const isWhole = frames.length >= WRITE_CHARACTERS_MAX;
      if (!isWhole && index < next.length - 1) continue;
      if (!isWhole && chunks.isWhole()) hold(frames);
      else {
        failpoint('stream.chunk-taken');
        const writing = send(stream, frames);
        if (writing !== undefined) {
          return writing.then(() => {
            failpoint('stream.chunk-drained');
            return pass(next.slice(index + 1));
          });
        }
        failpoint('stream.chunk-sent');
      }
      frames = '';
    }
    return !tally.isPastLimit();
  }
  return pass;
}

/** Writes frames, unless nobody is there to read them. */
function send<M extends Mode>({ caller, upstream, out, sent }: Relay<M>, frames: string): Promise<void> | undefined {
  if (caller.gone.aborted) upstream.drained(frames.length);
  if (caller.gone.aborted || frames === '') return undefined;
  sent.add(frames);
  return out.write(frames);
}

async function settleQuietly<M extends Mode>({ lane, hold, caller }: Relay<M>, ending: Ending): Promise<void> {
  failpoint('stream.failure-ending');
  try {
    await lane.endHold(hold, ending);
    failpoint('stream.failure-ended');
  } catch (fault) {
    caller.log.error({ callId: hold.call.callId, fault: describeFault(fault) }, 'a stream could not be settled');
  }
}

/**
 * A caller who left, so that we gave up, pays for the prompt and what was generated. Every failure of the provider is
 * free, also one that comes beside, and so is a request that never got as far as the provider.
 */
function endingAfter(fault: unknown, upstream: CallerWatch, tally: StreamTally): Ending {
  const isProvidersFault = fault instanceof UpstreamError && fault.kind !== 'given-up';
  return upstream.signal.aborted && !isProvidersFault ? tally.endingAs('abandoned') : FAILED;
}

function logFailure<M extends Mode>(caller: CallerSide, hold: Hold<M>, fault: unknown): void {
  const isGone = caller.gone.aborted;
  if (hold.mode === 'sandbox' && !isGone) return; // It was asked for.
  const kind = fault instanceof UpstreamError ? fault.kind : 'fault';
  caller.log.warn({ callId: hold.call.callId, kind, isGone, fault: describeFault(fault) }, 'a stream ended early');
}
