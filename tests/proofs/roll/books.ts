import { readFileSync } from 'node:fs';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { LoadFigures } from './load.ts';
import type { ProviderFacts } from './provider.ts';

/** What the books, the provider and the callers say of the same calls. */
export type Judgement = Awaited<ReturnType<typeof judge>>;

const HOLDS_MS_MAX = 60_000;

export async function judge(
  owner: Pool,
  of: { readonly load: LoadFigures; readonly answeredFile: string; readonly provider: ProviderFacts },
) {
  const holds = async (): Promise<number> => {
    return (await sqlValue<number>(owner)`select count(*)::int as holds from ledger.holds`) ?? 0;
  };
  await waitUntil('nothing is held', async () => (await holds()) === 0, HOLDS_MS_MAX).catch(() => {});
  const rows = await sql<{ tag: string; receipts: number; charged: number }>(owner)`
    select correlation_id as tag, count(*)::int as receipts, sum(charged_micros)::float8 as charged from usage.calls group by 1`;
  const answered = new Set(readFileSync(of.answeredFile, 'utf8').split('\n'));
  const charged = new Set(rows.filter((row) => row.charged > 0).map(({ tag }) => tag));
  return {
    receipts: rows.reduce((sum, row) => sum + row.receipts, 0),
    /** Calls with more than one receipt. */
    chargedTwice: rows.filter(({ receipts }) => receipts > 1).length,
    /** Calls with a whole answer and without a charge. */
    uncharged: Array.from(answered).filter((tag) => !charged.has(tag)).length,
    /** Calls without a whole answer that were charged. */
    chargedUnanswered: Array.from(charged).filter((tag) => !answered.has(tag)).length,
    askedTwice: of.provider.twice.length,
    holds: await holds(),
    lost: of.load.calls - of.load.answered,
  };
}
