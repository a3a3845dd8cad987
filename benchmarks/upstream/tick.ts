// Chunks of paced streams say when they were sent, so that their reader, in another process, knows how long they took.

/** What the time follows, in the text of a chunk. */
export const TICK = ' tick ';
export const TICK_DIGITS = 16;

/** Returns the time on the clock that all processes of a machine share. */
export function nowMicros(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000_000 + Math.floor(nanos / 1_000);
}
