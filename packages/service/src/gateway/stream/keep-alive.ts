import type { FrameWriter } from '#gateway/answer/answer.ts';
import type { Gone, StreamPace } from '#gateway/call/call.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';

/** How long a stream may keep its caller waiting. Tests set less. */
export const STREAM_PACE: StreamPace = { statusMsMax: 10_000, keepAliveMs: 15_000, heldUpMsMax: 10_000 };

/** A frame writer that never leaves its caller without a sign of life for long. */
export interface KeptAlive extends FrameWriter {
  /** The longest time for which one write has waited for the caller. */
  readonly heldUpMs: () => number;
  /** Writes a sign of life now. */
  readonly tell: () => Promise<void> | undefined;
  /** Ends the signs of life. Call it before the last frames: one behind them would be no part of the answer. */
  readonly stop: () => void;
}

interface Surroundings {
  readonly gone: Gone;
  readonly clock: SteadyClock;
  readonly alive: () => string;
}

/**
 * Writes a sign of life, which `alive` words, after every `keepAliveMs` in which the caller got no frame. A reader that takes nothing gets none: while a
 * write waits for it, nothing is put behind that write.
 */
export function createKeptAlive(
  { write, end, fail }: FrameWriter,
  { keepAliveMs }: Pick<StreamPace, 'keepAliveMs'>,
  { gone, clock, alive }: Surroundings,
): KeptAlive {
  let writesInFlight = 0;
  let heldUpMs = 0;
  let takenAtMs = clock.nowMs();
  let timer = setTimeout(tellOfSilence, keepAliveMs);

  /** A frame only notes the time at which it was taken. Setting the timer anew for each would cost as much as writing it. */
  function tellOfSilence(): void {
    const leftMs = takenAtMs + keepAliveMs - clock.nowMs();
    const isSilent = leftMs <= 0 && writesInFlight === 0 && !gone.aborted;
    timer = setTimeout(tellOfSilence, leftMs > 0 ? Math.ceil(leftMs) : keepAliveMs);
    if (isSilent) void send(alive());
  }

  function send(frames: string): Promise<void> | undefined {
    const writing = write(frames);
    if (writing !== undefined) return waitFor(writing);
    takenAtMs = clock.nowMs();
    return undefined;
  }

  async function waitFor(writing: Promise<void>): Promise<void> {
    const fromMs = clock.nowMs();
    writesInFlight += 1;
    await writing;
    writesInFlight -= 1;
    takenAtMs = clock.nowMs();
    heldUpMs = Math.max(heldUpMs, takenAtMs - fromMs);
  }

  return {
    heldUpMs: () => heldUpMs,
    write: send,
    end,
    fail,
    tell: () => send(alive()),
    stop: () => clearTimeout(timer),
  };
}

/** Whether a promise resolves or rejects within `ms`. */
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
