import type { Service } from '#app/compose.ts';
import type { StopSettings } from '#app/settings/stop.ts';
import { stopListening } from '#http/listener/closing.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** How long requests that hold no money may continue. A statement takes at most five seconds. */
const ANSWER_MS_MAX = 10_000;
const SETTLE_MS_MAX = 5_000;
const WAIT_STEP_MS = 25;
/** The time for what has no limit of its own, such as a machine that is busy. */
const SPARE_MS = 7_000;

/** A process that takes longer to stop hangs. */
export function stopMsMax({ stopDelayMs, stopCallsMs }: StopSettings): number {
  return stopDelayMs + Math.max(stopCallsMs, ANSWER_MS_MAX) + SETTLE_MS_MAX + SPARE_MS;
}

/**
 * Shuts down gracefully. First the process says that it is not ready any more and goes on serving (`stopDelayMs`), so that
 * proxies turn to others. Then it closes the listener, lets running calls end and be settled (also those whose caller has
 * left), and closes what is still open. Every wait has a limit, so a stop always ends.
 */
export async function stopGateway(service: Service, { stopDelayMs, stopCallsMs }: StopSettings): Promise<void> {
  const { server, closing, stop, endWaits, callsInFlight, workInFlight, settlementsKept } = service;
  endWaits();
  closing.begin(server, stopDelayMs);
  await sleep(stopDelayMs);
  const closed = stopListening(server);
  // After a delay, proxies have let go of connections that they did not use. Those that wait now have carried a stream.
  if (stopDelayMs === 0) server.closeIdleConnections();
  await Promise.all([
    waitUntil(() => callsInFlight() === 0, stopCallsMs),
    waitUntil(() => workInFlight() === 0, ANSWER_MS_MAX),
  ]);
  server.closeAllConnections(); // Streams that still run are abandoned here, exactly as if their callers had left.
  await closed;
  await waitUntil(() => callsInFlight() === 0 && workInFlight() === 0 && settlementsKept() === 0, SETTLE_MS_MAX);
  await stop();
}

/** Polls, because the conditions are counters without events and a stop has time to spare. */
async function waitUntil(holds: () => boolean, waitMsMax: number): Promise<void> {
  for (let waitedMs = 0; !holds() && waitedMs < waitMsMax; waitedMs += WAIT_STEP_MS) await sleep(WAIT_STEP_MS);
}
