import type { Queryable } from '#db/pool.ts';

interface ModelUsageRow {
  readonly model: string;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly charged_micros: bigint;
}

/** What a wallet used in a UTC month, model by model. Only calls that were answered or abandoned count as used. */
export async function selectMonthByModel(
  db: Queryable,
  walletId: bigint,
  month: string,
): Promise<readonly ModelUsageRow[]> {
  const { rows } = await db.query<ModelUsageRow>(
    `select model, count(*) as requests, sum(prompt_tokens)::bigint as prompt_tokens,
       sum(completion_tokens)::bigint as completion_tokens, sum(charged_micros)::bigint as charged_micros
     from usage.calls
     where wallet_id = $1 and month = $2 and outcome in ('answered', 'abandoned')
     group by model
     order by model`,
    [walletId, month],
  );
  return rows;
}
