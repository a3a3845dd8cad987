import { isoOf } from '#kernel/time/clock.ts';
import type { EventHistory } from '#webhooks/history/history.ts';

/** An event on the wire, with the attempts to deliver it. */
export function eventToWire({ createdAtMs, nextAttemptAtMs, body, attempts, ...event }: EventHistory) {
  return {
    ...event,
    createdAt: isoOf(createdAtMs),
    body: body ?? null,
    nextAttemptAt: nextAttemptAtMs === undefined ? null : isoOf(nextAttemptAtMs),
    attempts: [...attempts],
  };
}
