import type { FrameWriter } from '#gateway/answer/answer.ts';
import type { Gone, StreamPace } from '#gateway/call/call.ts';
import type { SteadyClock } from '#kernel/clock.ts';

/** How long a stream keeps its caller waiting, unless a test is in a hurry. */
export const STREAM_PACE: StreamPace = { statusMsMax: 10_000, keepAliveMs: 15_000 };

/** A comment, which is all that every client of the format takes between two frames. */
const KEEP_ALIVE = ': keep-alive\n\n';

/** The same, on which there is never silence for long. */
export interface KeptAlive extends FrameWriter {
  /** Says now that the stream lives. */
  readonly tell: () => Promise<void> | undefined;
  /** No more of it: what comes is the end. */
  readonly stop: () => void;
}

/**
 * Writes a comment after every `keepAliveMs` in which the caller got no frame. A reader that stands still gets none: as
 * long as a write waits for it, nothing is put behind that.
 */
export function createKeptAlive(
  { write, end }: FrameWriter,
  { keepAliveMs }: StreamPace,
  { gone, clock }: { readonly gone: Gone; readonly clock: SteadyClock },
): KeptAlive {
  let writesUnderWay = 0;
  let takenAtMs = clock.nowMs();
  let timer = setTimeout(tellOfSilence, keepAliveMs);

  /** Frames only note when they were taken: a timer that was moved by each would cost as much as its writing. */
  function tellOfSilence(): void {
    const leftMs = takenAtMs + keepAliveMs - clock.nowMs();
    const isSilent = leftMs <= 0 && writesUnderWay === 0 && !gone.aborted;
    timer = setTimeout(tellOfSilence, leftMs > 0 ? Math.ceil(leftMs) : keepAliveMs);
    if (isSilent) void send(KEEP_ALIVE);
  }

  function send(frames: string): Promise<void> | undefined {
    const writing = write(frames);
    if (writing !== undefined) return waitFor(writing);
    takenAtMs = clock.nowMs();
    return undefined;
  }

  async function waitFor(writing: Promise<void>): Promise<void> {
    writesUnderWay += 1;
    await writing;
    writesUnderWay -= 1;
    takenAtMs = clock.nowMs();
  }

  return {
    write: send,
    end,
    tell: () => send(KEEP_ALIVE),
    stop: () => clearTimeout(timer),
  };
}

/** Whether a promise settles, either way, within so long. */
export async function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isSettled = promise.then(
    () => true,
    () => true,
  );
  const isInTime = await Promise.race([isSettled, isLate]);
  clearTimeout(timer);
  return isInTime;
}
