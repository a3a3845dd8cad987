import { updateBeat } from '#cells/directory/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

const PERIOD_MS = 10_000;
/** All gateways of a cell beat. One that comes this soon after another changes nothing. */
const APART_MS_MIN = 5_000;

/**
 * Writes the time into the directory, at once and every ten seconds, so that the other cells can tell how old their copies are. A
 * replication that stands still looks the same as one that has nothing to copy. Does nothing in a cell that has a copy.
 */
export function startHeartbeat(db: Queryable, log: Log): { readonly stop: () => Promise<void> } {
  async function beat(): Promise<void> {
    try {
      await updateBeat(db, APART_MS_MIN);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the time could not be written for the other cells');
    }
  }
  const first = beat();
  const beats = repeat(beat, PERIOD_MS);
  return {
    stop: async () => {
      await Promise.all([first, beats.stop()]);
    },
  };
}
