-- Reads the receipts of up to `p_most` wallets after one that ended in a time, and sums them in stats.rebuilt. It returns one
-- row: the wallet to go on after, null when no wallet is left, and how many calls there were.
--
-- Charged calls count up to the wallet's watermark. roll_up adds those above it, and waits until the rebuild has ended. Calls
-- that were answered for nothing have no entry: only those of hours to which nobody adds any more count here. A call ends
-- in the month of its hold or in the next.
create or replace function stats.rebuild_receipts(p_after bigint, p_most int, p_from timestamptz, p_to timestamptz)
returns table (last_wallet bigint, calls bigint)
language plpgsql volatile security definer set search_path = pg_catalog
set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
  first_month constant date := (date_trunc('month', p_from, 'UTC') at time zone 'UTC' - interval '1 month')::date;
  last_month constant date := (p_to at time zone 'UTC')::date;
begin
  return query
  with page as materialized (
    select w.wallet_id, w.app_id from ledger.wallets w where w.wallet_id > p_after order by w.wallet_id limit p_most
  ), ended as (
    select p.app_id, k.*
    from page p
    left join stats.watermarks m on m.wallet_id = p.wallet_id
    cross join lateral (
      select c.settled_at, c.model, c.charged_micros, c.prompt_tokens, c.completion_tokens, c.price_id
      from usage.calls c
      where c.wallet_id = p.wallet_id and c.settled_at >= p_from and c.settled_at < p_to
        and c.month >= first_month and c.month <= last_month
        and case when c.charged_micros > 0
          -- A charge that the wallet paid in part is in the journal.
          then coalesce(c.seq, (
            select min(j.seq) from ledger.journal j
            where j.cause = c.call_id::text and j.kind in ('charge', 'charge_receivable')
          )) <= m.entry_seq
          else c.outcome = 'answered' and c.settled_at < date_trunc('hour', clock_timestamp() - interval '10 minutes', 'UTC') end
      offset 0
    ) k
  ), summed as (
    insert into stats.rebuilt as r (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens, completion_tokens,
      cost_micros)
    select e.app_id, 'live',
      date_trunc(case when e.settled_at < s.merged_until then 'day' else 'hour' end, e.settled_at, 'UTC'),
      coalesce(e.model, ''), case when e.charged_micros > 0 then 'charged' else 'free' end,
      count(*), sum(e.charged_micros), sum(e.prompt_tokens), sum(e.completion_tokens),
      case when bool_and(c.price_id is not null or e.charged_micros = 0)
        then coalesce(sum(stats.cost_of(e.charged_micros, c.margin_basis_points, c.margin_micros_per_call)), 0) end
    from ended e
    cross join stats.passes s
    left join catalogue.prices c on c.price_id = e.price_id
    group by e.app_id, 3, 4, 5
    on conflict (hour, app_id, mode, model, outcome) do update set
      calls = r.calls + excluded.calls,
      charged_micros = r.charged_micros + excluded.charged_micros,
      prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = r.completion_tokens + excluded.completion_tokens,
      cost_micros = r.cost_micros + excluded.cost_micros
  )
  select case when count(*) = p_most then max(p.wallet_id) end, (select count(*) from ended) from page p;
end $$;

revoke all on function stats.rebuild_receipts from public;
