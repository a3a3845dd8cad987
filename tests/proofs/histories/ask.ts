import { isServerFault, type Pool, sqlStateOf } from '../../../packages/service/src/db/pool/pool.ts';
import { sleep } from './sleep.ts';

const RETRY_MS = 150;
const RETRIES_MAX = 400;
/** The lock timed out: nothing was done, and nothing is lost. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Sends a statement until the database has answered. An earlier one may or may not have taken effect. */
export async function askUntilAnswered(
  pool: Pool,
  text: string,
  values: readonly unknown[],
  onLost: () => void,
): Promise<unknown> {
  for (let attempt = 0; attempt < RETRIES_MAX; attempt += 1) {
    try {
      const { rows } = await pool.query<{ answer: unknown }>(text, [...values]);
      return rows[0]?.answer;
    } catch (fault) {
      if (sqlStateOf(fault) !== LOCK_NOT_AVAILABLE) {
        if (!isServerFault(fault)) throw fault;
        onLost();
      }
      await sleep(RETRY_MS);
    }
  }
  throw new Error('The database did not answer.');
}
