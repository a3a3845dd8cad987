import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 250;

/** Reads until the value is as wanted, or the time is over. Gives the last value, and how long it took. */
export async function poll<Value>(
  read: () => Promise<Value>,
  isWanted: (value: Value) => boolean,
  msMax: number,
): Promise<{ readonly value: Value; readonly tookMs: number }> {
  const begunAt = performance.now();
  for (;;) {
    const value = await read();
    const tookMs = performance.now() - begunAt;
    if (isWanted(value) || tookMs > msMax) return { value, tookMs };
    await sleep(EVERY_MS);
  }
}

/** Waits until an address answers 200. Throws if it does not in time. */
export async function untilHealthy(url: string, msMax: number): Promise<void> {
  const isHealthy = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  const { value } = await poll(isHealthy, Boolean, msMax);
  if (!value) throw new Error(`${url} did not answer.`);
}
