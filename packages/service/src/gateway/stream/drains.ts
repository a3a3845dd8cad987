import type { Drains } from '#gateway/call/call.ts';
import { drainsCut } from '#gateway/stream/metrics.ts';

/** How far streams are read on after their callers have left. Without limits, callers who leave could fill a process. */
interface DrainLimits {
  /** The limits of one drain, in time and in bytes (CC-11). */
  readonly msMax: number;
  readonly bytesMax: number;
  /** The limits of all drains of this process together. Above one of these, the oldest drain is given up. */
  readonly drainsMax: number;
  readonly bytesOfAllMax: number;
}

const DRAIN_LIMITS: DrainLimits = {
  msMax: 60_000,
  bytesMax: 1024 * 1024,
  drainsMax: 256,
  bytesOfAllMax: 64 * 1024 * 1024,
};

interface Running {
  readonly giveUp: () => void;
  readonly timer: NodeJS.Timeout;
  bytes: number;
}

/** Keeps the drains of one process within the limits. A `Set` keeps them in the order in which they began. */
export function createDrains(limits: DrainLimits = DRAIN_LIMITS): Drains {
  const running = new Set<Running>();
  let bytesOfAll = 0;

  /** Ends a drain. Returns true if it was still running. */
  function end(drain: Running): boolean {
    clearTimeout(drain.timer);
    const isRunning = running.delete(drain);
    if (isRunning) bytesOfAll -= drain.bytes;
    return isRunning;
  }

  function cut(drain: Running): void {
    if (!end(drain)) return;
    drainsCut.add();
    drain.giveUp();
  }

  function cutOldest(): void {
    for (const drain of running) {
      if (running.size <= limits.drainsMax && bytesOfAll <= limits.bytesOfAllMax) return;
      cut(drain);
    }
  }

  return {
    begin: (giveUp) => {
      const drain: Running = { giveUp, timer: setTimeout(() => cut(drain), limits.msMax), bytes: 0 };
      running.add(drain);
      cutOldest();
      return {
        read: (bytes) => {
          if (!running.has(drain)) return;
          drain.bytes += bytes;
          bytesOfAll += bytes;
          if (drain.bytes > limits.bytesMax) cut(drain);
          cutOldest();
        },
        end: () => void end(drain),
      };
    },
  };
}
