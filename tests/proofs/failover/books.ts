import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Call } from './load.ts';

/** What callers were told, against the books: each is a list of calls. */
export type Judgement = Awaited<ReturnType<typeof judge>>;

const HOLDS_MS_MAX = 90_000;

/** A call in the books: how many receipts charge it, and what they charge together. A part that we bear ourselves counts as booked. */
interface Booked {
  readonly tag: string;
  readonly times: number;
  readonly micros: number;
}

const NOT_BOOKED = { times: 0, micros: 0 };

export async function judge(owner: Pool, calls: readonly Call[]) {
  const { rows } = await owner.query<Booked>(
    `select c.correlation_id as tag, count(*)::int as times, sum(c.charged_micros + coalesce(j.amount_micros, 0))::float8 as micros
     from usage.calls c left join ledger.journal j on j.kind::text = 'charge_lost' and j.cause = c.call_id::text
     where c.correlation_id = any ($1::text[]) and c.charged_micros + coalesce(j.amount_micros, 0) > 0 group by 1`,
    [calls.map(({ tag }) => tag)],
  );
  const booked = new Map(rows.map((row) => [row.tag, row]));
  const of = ({ tag }: Call): Pick<Booked, 'times' | 'micros'> => booked.get(tag) ?? NOT_BOOKED;
  const told = calls.filter(({ toldMicros = 0 }) => toldMicros > 0);
  const lost = told.filter((call) => of(call).times === 0);
  return {
    /** The callers of these calls were told a charge, and the books have none. */
    lost: tagsOf(lost),
    /** The callers of these calls were told another charge than the books have. */
    different: tagsOf(told.filter((call) => of(call).times > 0 && of(call).micros !== call.toldMicros)),
    /** These calls are in the books more than once. */
    twice: tagsOf(calls.filter((call) => of(call).times > 1)),
    /** These calls were refused, and charged all the same. */
    chargedRefusals: tagsOf(calls.filter((call) => call.end === 'refused' && of(call).times > 0)),
    lostMicros: lost.reduce((sum, { toldMicros = 0 }) => sum + toldMicros, 0),
  };
}

/** Waits until no call holds anything. */
export async function untilNothingIsHeld(owner: Pool): Promise<void> {
  await waitUntil(
    'nothing is held',
    async () => {
      return (await sqlValue<number>(owner)`select count(*)::int as holds from ledger.holds`) === 0;
    },
    HOLDS_MS_MAX,
  );
}

function tagsOf(calls: readonly Call[]): readonly string[] {
  return calls.map(({ tag }) => tag);
}
