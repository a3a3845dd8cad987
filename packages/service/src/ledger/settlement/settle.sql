-- Ends each call that still holds: takes its charge, at most its hold and at most the balance, gives the rest back, and
-- writes the receipt. What the balance cannot cover after a claw-back is booked as a receivable and suspends the wallet
-- (WA-12). What a provider reported above the hold is booked as our loss (WA-07). A charge of 0 gives the whole hold back.
--
-- A call that no longer holds is answered with what it was charged when it ended, and nothing changes: settling twice, or
-- after the reaper, is the same as settling once. A call whose answer is not kept (`is_unkept`) stays as it is when a retry
-- has joined it ('is_joined'): its answer must be kept first (CC-14).
create or replace function ledger.settle(p_settlements ledger.settlement[], p_sessions db.named_session[] default null)
returns table (call_id uuid, is_settled boolean, charged bigint, is_joined boolean)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  calls constant uuid[] := array(select q.call_id from unnest(p_settlements) q);
  unkept constant uuid[] := array(select q.call_id from unnest(p_settlements) q where q.is_unkept);
  has_budget constant boolean := ledger.lock_held(calls);
begin
  return query
  with asked as (
    select q.* from unnest(p_settlements) with ordinality q
  ), ended as (
    delete from ledger.holds h
    where h.call_id = any (calls) and not (h.is_joined and h.call_id = any (unkept)) returning h.*
  ), owed as (
    -- An overrun is booked only where the provider reported it: our own count is no bill.
    select a.*, e.wallet_id, e.amount_micros as held, e.month, e.is_stream, e.budget_key,
      not e.is_stream and e.drained_since is null as is_plain, least(a.charge_micros, e.amount_micros) as owed,
      case when a.is_estimated then 0 else greatest(0, a.charge_micros - e.amount_micros) end as overrun,
      sum(least(a.charge_micros, e.amount_micros)) over (partition by e.wallet_id order by a.ordinality)::bigint as owed_so_far
    from asked a join ended e on e.call_id = a.call_id
  ), taken as (
    -- The balance is spent in order of the batch until it is gone: what is taken is the growth of least(owed, balance).
    select o.*, w.balance_micros, w.entry_seq, w.cap_month,
      least(o.owed_so_far, w.balance_micros) - least(o.owed_so_far - o.owed, w.balance_micros) as taken
    from owed o
    cross join lateral (
      select v.balance_micros, v.entry_seq, v.cap_month from ledger.wallets v where v.wallet_id = o.wallet_id offset 0
    ) w
  ), moves as (
    select t.wallet_id, t.entry_seq, t.ordinality, t.call_id, 'charge'::ledger.entry_kind as kind,
      'wallet'::ledger.book as debit, t.taken as amount, t.balance_micros - least(t.owed_so_far, t.balance_micros) as balance_after,
      t.owed = t.taken as is_receipt
    from taken t where t.taken > 0
    union all
    select t.wallet_id, t.entry_seq, t.ordinality, t.call_id, 'charge_receivable', 'receivable', t.owed - t.taken, 0, false
    from taken t where t.owed > t.taken
    union all
    select t.wallet_id, t.entry_seq, t.ordinality, t.call_id, 'charge_overrun', 'loss', t.overrun,
      t.balance_micros - least(t.owed_so_far, t.balance_micros), false
    from taken t where t.overrun > 0
  ), numbered as (
    select m.*, m.entry_seq + row_number() over (partition by m.wallet_id order by m.ordinality, m.kind) as seq from moves m
  ), entries as (
    -- A charge that the wallet paid in full is booked by its receipt.
    insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select n.wallet_id, n.seq, n.kind, n.call_id::text, n.debit, 'earned', n.amount, n.balance_after
    from numbered n where not n.is_receipt
  ), totals as (
    select t.wallet_id, count(*) as calls, count(*) filter (where t.is_stream) as streams,
      count(*) filter (where t.is_plain) as plain,
      sum(t.held)::bigint as held, sum(t.taken)::bigint as taken, sum(t.owed - t.taken)::bigint as missing,
      count(*) filter (where t.taken > 0) + count(*) filter (where t.owed > t.taken)
        + count(*) filter (where t.overrun > 0) as entries,
      -- A hold of an earlier month settles without touching the month that has begun (WA-08).
      coalesce(sum(t.owed) filter (where t.month = t.cap_month), 0)::bigint as month_owed,
      coalesce(sum(t.held) filter (where t.month = t.cap_month), 0)::bigint as month_held
    from taken t group by t.wallet_id
  ), wallets as (
    update ledger.wallets w set
      balance_micros = w.balance_micros - t.taken,
      held_micros = w.held_micros - t.held,
      open_streams = w.open_streams - t.streams,
      open_calls = w.open_calls - t.plain,
      cap_spent_micros = w.cap_spent_micros + t.month_owed,
      cap_held_micros = w.cap_held_micros - t.month_held,
      is_suspended = w.is_suspended or t.missing > 0,
      shortfall_micros = w.shortfall_micros + t.missing,
      is_clawed = w.is_clawed and w.held_micros - t.held > w.balance_micros - t.taken,
      entry_seq = w.entry_seq + t.entries,
      version = w.version + t.calls
    from totals t where w.wallet_id = t.wallet_id
  ), budgets as ( -- Each gets its holds back, less what was charged (CP-08).
    update ledger.key_budgets b set
      spent_micros = b.spent_micros + t.owed,
      held_micros = b.held_micros - t.held
    from (
      select o.budget_key, o.month, sum(o.owed)::bigint as owed, sum(o.held)::bigint as held
      from taken o where has_budget and o.budget_key is not null group by o.budget_key, o.month
    ) t
    where b.key_id = t.budget_key and b.month = t.month
  ), receipts as (
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros,
      correlation_id, seq, balance_after_micros, rare_counts, budget_key)
    select t.call_id, t.wallet_id, t.month, t.model, t.price_id, t.outcome, t.is_estimated, t.is_usage_clamped,
      t.prompt_tokens, t.cached_tokens, t.cache_write_tokens, t.completion_tokens, t.reasoning_tokens, t.held,
      t.owed, t.correlation_id, n.seq, n.balance_after, t.rare_counts, t.budget_key
    from taken t left join numbered n on n.call_id = t.call_id and n.is_receipt
  )
  select a.call_id, t.call_id is not null, coalesce(t.owed, c.charged_micros, 0),
    t.call_id is null and exists (select from ledger.holds h where h.call_id = a.call_id)
  from asked a
  left join taken t on t.call_id = a.call_id
  left join lateral (
    select c.charged_micros from usage.calls c where t.call_id is null and c.call_id = a.call_id offset 0
  ) c on true;

  if p_sessions is not null then
    perform usage.note_sessions(p_sessions);
  end if;
end $$;

revoke all on function ledger.settle from public;
grant execute on function ledger.settle to purser_live;
