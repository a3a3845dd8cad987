-- Books charges that were told to callers and come after their holds were released: a gateway was cut off for longer than its
-- lease, and answered from its disk meanwhile (WA-10). The caller of this function vouches that they were told. It gives each call
-- that was charged late, now or earlier, with what its wallet paid, what we lost by it, and whether it was now.
--
-- The released hold keeps its receipt, which says 'expired'. The charge has another one, of now, and usage.late_receipts ties
-- the two: its primary key is why nothing is charged twice. What the wallet does not pay of the told charge, at most the old hold,
-- is our loss. Fails if the receipt of a call is in an archive, unless it was charged late before: nobody can tell then whether it
-- is to be charged. Its settlement file is kept, for after the month is back.
create or replace function ledger.settle_late(p_settlements ledger.settlement[], p_sessions db.named_session[] default null)
returns table (call_id uuid, charged bigint, lost bigint, is_new boolean)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  -- Of a call that its caller left nobody was told.
  calls constant uuid[] := array(
    select q.call_id from unnest(p_settlements) q where q.charge_micros > 0 and q.outcome = 'answered');
  borrows constant boolean := (select o.borrows_budgets from cells.own o);
  last_month constant date := (db.current_month() - interval '1 month')::date;
  late record;
  money record;
  receipt uuid;
  booked_month date;
  budget text;
  owed bigint;
  booked uuid[] := '{}';
  taken bigint;
begin
  -- In the order of ledger.settle: all wallets, then all budgets. The statements after these see what the locks protect.
  perform from ledger.wallets w
  where w.wallet_id in (select c.wallet_id from usage.calls c where c.call_id = any (calls) and c.outcome = 'expired')
  order by w.wallet_id for no key update;
  perform from (
    select distinct c.budget_key as key_id, c.month from usage.calls c
    where c.call_id = any (calls) and c.outcome = 'expired' and c.budget_key is not null
  ) d
  join ledger.key_budgets b on b.key_id = d.key_id and b.month = d.month
  order by b.key_id, b.month for no key update of b;
  if exists (
    select from unnest(calls) a (call_id)
    where ledger.is_detached(a.call_id) and not exists (select from usage.late_receipts l where l.call_id = a.call_id)
  ) then
    raise exception 'the receipt of this call is in an archive: restore its month';
  end if;

  for late in
    select q.*, c.wallet_id, c.held_micros, c.month, c.budget_key, c.released_at
    from unnest(p_settlements) with ordinality q
    cross join lateral (
      select k.wallet_id, k.held_micros, k.month, k.budget_key, k.settled_at as released_at from usage.calls k
      where k.call_id = q.call_id and k.outcome = 'expired' offset 0
    ) c
    where q.call_id = any (calls)
    order by q.ordinality
  loop
    receipt := ledger.new_receipt_id();
    insert into usage.late_receipts (call_id, receipt_id) values (late.call_id, receipt) on conflict do nothing;
    continue when not found;
    booked := booked || late.call_id;
    -- A call ends in the month of its hold or in the next, also for every reader of receipts.
    booked_month := greatest(late.month, last_month);
    budget := case when booked_month = late.month then late.budget_key end;
    owed := least(late.charge_micros, late.held_micros);
    -- A wallet pays what a new call could hold, suspended and disconnected or not: both are about new calls. It pays nothing if its owner was
    -- deleted after the call, for its money is somebody else's, or if it is leaving this cell, for it may have been copied already.
    -- `least` passes over a null: a call without a budget, or one whose limit is not known.
    select least(owed, case when late.released_at < w.owner_deleted_at then 0 end,
      (select 0 from ledger.leaving l where l.wallet_id = late.wallet_id),
      db.largest_hold(true, false, w.balance_micros, w.held_micros, w.cap_micros, m.spent, m.held), (
      -- What other cells have of it is theirs, and a cell that borrows has its allowance, also while that is barred.
      select greatest(0, least(b.limit_micros - b.lent_micros, case when borrows then coalesce(b.allowance_micros, 0) end) - b.spent_micros - b.held_micros)
      from ledger.key_budgets b
      where b.key_id = budget and b.month = booked_month and b.limit_micros is not null
    )) into taken
    from ledger.wallets w
    cross join lateral ledger.counted_in(w, booked_month) m
    where w.wallet_id = late.wallet_id;
    update ledger.wallets w set
      balance_micros = w.balance_micros - taken,
      cap_spent_micros = w.cap_spent_micros + case when w.cap_month = booked_month then taken else 0 end,
      entry_seq = w.entry_seq + (taken > 0)::int,
      version = w.version + 1
    where w.wallet_id = late.wallet_id
    returning w.balance_micros as balance, w.entry_seq as seq into strict money;
    update ledger.key_budgets b set spent_micros = b.spent_micros + taken
    where b.key_id = budget and b.month = booked_month;
    insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
      prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros,
      correlation_id, seq, balance_after_micros, rare_counts, budget_key)
    values (receipt, late.wallet_id, booked_month, late.model, late.price_id, late.outcome, late.is_estimated,
      late.is_usage_clamped, late.prompt_tokens, late.cached_tokens, late.cache_write_tokens, late.completion_tokens,
      late.reasoning_tokens, late.held_micros, taken, late.correlation_id,
      case when taken > 0 then money.seq end, case when taken > 0 then money.balance end, late.rare_counts, budget);
    if p_sessions is not null then
      perform usage.note_sessions(array(
        select row(receipt, s.name, s.client, s.wire)::db.named_session from unnest(p_sessions) s where s.call_id = late.call_id));
    end if;
    if taken < owed then
      perform ledger.move(late.wallet_id, 'charge_lost', receipt::text, owed - taken);
    end if;
    if late.charge_micros > owed and not late.is_estimated then
      perform ledger.move(late.wallet_id, 'charge_overrun', receipt::text, late.charge_micros - owed);
    end if;
  end loop;

  return query
  select l.call_id, r.charged_micros, coalesce(j.amount_micros, 0), l.call_id = any (booked)
  from usage.late_receipts l
  join usage.calls r on r.call_id = l.receipt_id
  left join ledger.journal j on j.cause = l.receipt_id::text and j.kind = 'charge_lost'
  where l.call_id = any (calls);
end $$;

revoke all on function ledger.settle_late from public;
grant execute on function ledger.settle_late to purser_live;
