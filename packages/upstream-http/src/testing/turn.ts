import { setImmediate as nextTurn } from 'node:timers/promises';

const TURNS = 5; // What a call sets off is over after two.

/** Waits until the event loop has looked at every socket a few times. No time has to pass for that. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}
