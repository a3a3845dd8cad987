import type { Pool } from '../../packages/service/src/db/pool/pool.ts';

interface ReceiptsOptions {
  readonly calls: number;
  readonly wallets: number;
  readonly apps: number;
  /** The calls ended within this time, before now. */
  readonly days: number;
}

/** One entry for each call: of 50 calls, one is paid in part (two entries in the journal) and five cost nothing (no entry). */
const CALLS = `create temp table many_calls as
  select c.*, sum(c.entries) over (partition by c.wallet_id order by c.n) as seq
  from (
    select n, 1 + (n * 7919) % $wallets as wallet_id,
      (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || substr(md5(n::text), 1, 12))::uuid as call_id,
      'acme.model-' || n % 7 % 3 as model, (n * 31) % 997 as prompt_tokens, (n * 17) % 499 as completion_tokens,
      case when n % 10 = 3 then 0 else 1 + (n * 48271) % 99991 end as charged,
      case when n % 10 = 3 then 0 when n % 50 = 7 then 2 else 1 end as entries,
      clock_timestamp() - ((n * 811291697) % 2147483647 / 2147483647.0) * $days * interval '1 day' as settled_at
    from generate_series(1::bigint, $calls::bigint) n
  ) c`;

const FILL = [
  // One of them has no margin, and one a fee of our own for each call.
  `insert into catalogue.prices (model_id, input_micros_per_million, cached_input_micros_per_million,
     cache_write_micros_per_million, output_micros_per_million, margin_basis_points, margin_micros_per_call)
   select 'acme.model-' || n, 1, 1, 1, 1, n * 1250, case when n = 2 then 7 else 0 end from generate_series(0, 2) n`,
  `insert into ledger.wallets (app_id, user_id, currency)
   select 'app_' || n % $apps, 'user-' || n, 'EUR' from generate_series(1, $wallets) n order by n`,
  CALLS,
  `insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
     completion_tokens, reasoning_tokens, held_micros, charged_micros, settled_at, seq, balance_after_micros, price_id)
   select call_id, wallet_id, date_trunc('month', settled_at, 'UTC')::date, model,
     case when charged = 0 and n % 20 = 3 then 'failed' else 'answered' end, false, prompt_tokens, 0, completion_tokens, 0,
     100000, charged, settled_at, case when entries = 1 then seq end, case when entries = 1 then 1000 end,
     (select p.price_id from catalogue.prices p where p.model_id = model)
   from many_calls order by settled_at`,
  `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at)
   select c.wallet_id, c.seq - e.before, e.kind::ledger.entry_kind, c.call_id::text, e.debit::ledger.book, 'earned',
     case when e.before = 1 then c.charged - c.charged / 3 else c.charged / 3 end, 0, c.settled_at
   from many_calls c
   cross join (values (1, 'charge', 'wallet'), (0, 'charge_receivable', 'receivable')) e (before, kind, debit)
   where c.entries = 2 and c.charged > 3`,
  `update ledger.wallets w set entry_seq = s.seq
   from (select wallet_id, max(seq) as seq from many_calls group by wallet_id) s where s.wallet_id = w.wallet_id`,
  `drop table many_calls`,
  'analyze',
];

/** Fills an empty ledger with receipts, their entries and their wallets, in SQL. Amounts, models and times vary. */
export async function fillReceipts(owner: Pool, options: ReceiptsOptions): Promise<void> {
  const client = await owner.connect();
  try {
    for (const text of FILL) {
      await client.query(
        text.replaceAll(/\$(calls|wallets|apps|days)/g, (_, name: keyof ReceiptsOptions) => String(options[name])),
      );
    }
  } finally {
    client.release(true);
  }
}

/** What the provider charged for a call: within a micro of the charge before its margin was added. */
const COST = `floor(greatest(0, c.charged_micros - p.margin_micros_per_call) / (1 + p.margin_basis_points / 10000.0))`;

/** Each hour, app and model for which the sums of charged live calls are not those of the receipts. None means exact. */
export async function sumDifferences(owner: Pool, to: 'hour' | 'day' = 'hour'): Promise<readonly object[]> {
  const { rows } = await owner.query<object>(
    `select app_id, hour, model, r.calls as receipts, s.calls, r.charged as owed, s.charged, r.cost as costs, s.cost
     from (
       select w.app_id, date_trunc('${to}', c.settled_at, 'UTC') as hour, c.model, count(*) as calls,
         sum(c.charged_micros)::bigint as charged, sum(c.prompt_tokens)::bigint as prompt, sum(c.completion_tokens)::bigint as completion,
         case when bool_and(p.price_id is not null) then sum(${COST})::bigint end as cost
       from usage.calls c join ledger.wallets w using (wallet_id) left join catalogue.prices p using (price_id)
       where c.charged_micros > 0 group by 1, 2, 3
     ) r
     full join (
       select app_id, date_trunc('${to}', hour, 'UTC') as hour, model, sum(calls) as calls, sum(charged_micros)::bigint as charged,
         sum(prompt_tokens)::bigint as prompt, sum(completion_tokens)::bigint as completion,
         case when bool_and(cost_micros is not null) then sum(cost_micros)::bigint end as cost
       from stats.hours where mode = 'live' and outcome = 'charged' group by 1, 2, 3
     ) s using (app_id, hour, model)
     where (r.calls, r.charged, r.prompt, r.completion, r.cost)
       is distinct from (s.calls, s.charged, s.prompt, s.completion, s.cost)
     order by 1, 2, 3 limit 10`,
  );
  return rows;
}
