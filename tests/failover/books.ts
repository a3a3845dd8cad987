import type { Pool } from '../../packages/service/src/db/pool.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Call } from './load.ts';

/** What callers were told, against the books: each is a list of calls. */
export interface Judgement {
  /** Told a charge, and the books have none. */
  readonly lost: readonly string[];
  /** Told another charge than the books have. */
  readonly different: readonly string[];
  /** In the books more than once. */
  readonly twice: readonly string[];
  /** Refused, and charged all the same. */
  readonly chargedRefusals: readonly string[];
  readonly lostMicros: number;
}

const HOLDS_MS_MAX = 90_000;

interface Booked {
  readonly tag: string;
  readonly times: number;
  readonly micros: number;
}

export async function judge(owner: Pool, calls: readonly Call[]): Promise<Judgement> {
  const { rows } = await owner.query<Booked>(
    `select correlation_id as tag, count(*)::int as times, sum(charged_micros)::float8 as micros
     from usage.calls where correlation_id = any ($1::text[]) group by 1`,
    [calls.map(({ tag }) => tag)],
  );
  const booked = new Map(rows.map((row) => [row.tag, row]));
  const told = calls.filter(({ toldMicros }) => toldMicros !== undefined);
  const lost = told.filter(({ tag, toldMicros = 0 }) => toldMicros > 0 && !booked.has(tag));
  return {
    lost: tagsOf(lost),
    different: tagsOf(told.filter(({ tag, toldMicros }) => (booked.get(tag)?.micros ?? toldMicros) !== toldMicros)),
    twice: rows.filter(({ times }) => times > 1).map(({ tag }) => tag),
    chargedRefusals: tagsOf(calls.filter(({ tag, end }) => end === 'refused' && (booked.get(tag)?.micros ?? 0) > 0)),
    lostMicros: lost.reduce((sum, { toldMicros = 0 }) => sum + toldMicros, 0),
  };
}

/** Waits until no call holds anything. */
export async function untilNothingIsHeld(owner: Pool): Promise<void> {
  await waitUntil(
    'nothing is held',
    async () => {
      const { rows } = await owner.query<{ holds: number }>('select count(*)::int as holds from ledger.holds');
      return rows[0]?.holds === 0;
    },
    HOLDS_MS_MAX,
  );
}

function tagsOf(calls: readonly Call[]): readonly string[] {
  return calls.map(({ tag }) => tag);
}
