import type { StreamPace } from '#gateway/call.ts';

/** How long a stream keeps its caller waiting, unless a test is in a hurry. */
export const STREAM_PACE: StreamPace = { statusMsMax: 10_000, keepAliveMs: 15_000 };

/** A comment, which is all that every client of the format takes between two frames. */
const KEEP_ALIVE = ': keep-alive\n\n';

type Write = (frames: string) => Promise<void>;

/** The way to a caller, on which there is never silence for long. */
export interface KeptAlive {
  /** Writes whole frames, as the function does that it is made of. */
  readonly write: Write;
  /** Says now that the stream lives. */
  readonly tell: () => Promise<void>;
  /** No more of it: what is written from now on is the end. */
  readonly stop: () => void;
}

/**
 * Writes a comment after every `keepAliveMs` in which the caller got no frame. A reader that stands still gets none: as
 * long as a write waits for it, nothing is put behind that.
 */
export function createKeptAlive(write: Write, { keepAliveMs }: StreamPace, gone: AbortSignal): KeptAlive {
  let writesUnderWay = 0;
  let isStopped = false;
  let timer = setTimeout(tellOfSilence, keepAliveMs);

  function tellOfSilence(): void {
    if (writesUnderWay === 0 && !gone.aborted) void send(KEEP_ALIVE);
  }

  async function send(frames: string): Promise<void> {
    writesUnderWay += 1;
    await write(frames);
    writesUnderWay -= 1;
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(tellOfSilence, keepAliveMs);
  }

  return {
    write: send,
    tell: () => send(KEEP_ALIVE),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
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
