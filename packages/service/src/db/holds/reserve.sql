-- Places a hold for each call that status, cap and balance allow: as much of `most_micros` as db.granted_hold gives of that,
-- and no less than `least_micros`. Calls are judged one after the other, so that a large one that is refused never costs a
-- small one behind it its hold. What they are judged by is locked before, and nothing is booked until all are judged.
create or replace function money.reserve(
  p_instance bigint,
  p_grant bigint, -- Play money.
  p_requests db.hold_request[]
) returns table (call_id uuid, outcome text, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  wallets bigint[]; -- Of each call, in its place in the batch. Null: its user has none that is connected.
  budgets money.key_budgets[]; -- Of the keys of these calls.
  this_month date;
  is_repeat boolean; -- Some call of these holds already, or has ended.
  amounts bigint[] := array_fill(0::bigint, array[cardinality(p_requests)]); -- What each call is granted now.
  joined uuid[] := '{}'; -- The running calls that retries of this batch have found.
  asked record;
  wallet money.wallets; -- As the calls before this one leave it, in the month of the hold.
  is_connected boolean := true; -- As a test user always is: there is nobody to consent.
  budget money.key_budgets; -- That of the call's key, as the calls before leave it; null: it has none.
  room bigint; -- In that budget, here.
  drains uuid[] := '{}'; -- Whose slots the call would take. Play money has none.
  largest bigint;
begin
  select l.* into wallets, budgets, this_month, is_repeat
  from ledger.lock_asked(p_instance, p_requests) l; -- Real money.
  from sandbox.lock_asked(p_instance, p_grant, p_requests) l; -- Play money.
  for asked in
    -- `offset 0` keeps each look-up one by its key, however its table has grown since the plan was made.
    select q.*, w.wallet_id, w.wallet, b.ordinality as budget,
      e.call_id as ended, -- Real money.
      h.amount_micros as placed
    from unnest(p_requests) with ordinality q
    left join lateral (
      select v.wallet_id, v.cap_month, v as wallet from money.wallets v where v.wallet_id = wallets[q.ordinality] offset 0
    ) w on true
    left join unnest(budgets) with ordinality b on b.key_id = q.budget_key and b.month = greatest(w.cap_month, this_month)
    left join lateral (select c.call_id from usage.calls c where is_repeat and c.call_id = q.call_id offset 0) e on true -- Real money.
    left join lateral (select o.amount_micros from money.holds o where is_repeat and o.call_id = q.call_id offset 0) h on true
    order by w.wallet_id, q.ordinality
  loop
    call_id := asked.call_id;
    outcome := null;
    granted := 0;
    earlier := null;
    budget := null;
    room := null;
    if asked.wallet_id is distinct from wallet.wallet_id then
      wallet := asked.wallet;
      is_connected := wallet.is_connected; -- Real money.
      if wallet.cap_month < this_month then
        wallet.cap_spent_micros := 0;
        wallet.cap_held_micros := 0;
      end if;
    end if;
    if asked.placed is not null then
      -- A repeat, because the first answer was lost. It gets the same one, and its hold goes to the process that asks.
      outcome := 'granted';
      granted := asked.placed;
      update money.holds h set instance_id = p_instance where h.call_id = asked.call_id and h.instance_id <> p_instance;
    elsif asked.ended is not null then -- Real money.
      outcome := 'call_ended'; -- Real money.
    elsif asked.joins and not wallet.is_suspended then
      select e.call_id, e.outcome into earlier, outcome
      from money.earlier_call(p_requests[asked.ordinality], asked.wallet_id, p_requests, amounts, joined) e;
      joined := case when outcome = 'attempt_running' then joined || earlier else joined end;
    end if;
    if outcome is null and asked.budget_key is not null then
      -- Before the user's money: nobody is sent to pay for a call that its key would refuse.
      budget := budgets[asked.budget];
      room := ledger.room_in_budget(budget, asked.budget_micros); -- Real money.
      outcome := ledger.budget_refusal(budget, asked.least_micros, asked.budget_micros); -- Real money.
      room := asked.budget_micros - budget.spent_micros - budget.held_micros; -- Play money.
      outcome := db.budget_outcome(asked.least_micros, asked.budget_micros, budget.spent_micros, budget.held_micros); -- Play money.
    end if;
    if outcome is null and asked.wallet_id is null then -- Real money.
      outcome := ledger.refusal_of_stranger(asked.app_id, asked.user_id); -- Real money.
    end if; -- Real money.
    if outcome is null then
      drains := case when asked.streams_max > 0 and wallet.open_streams >= asked.streams_max -- Real money.
        then ledger.drains_of(wallet.wallet_id, wallet.open_streams - asked.streams_max + 1, joined) else '{}' end; -- Real money.
      largest := db.largest_hold(is_connected, wallet.is_suspended, wallet.balance_micros, wallet.held_micros, wallet.cap_micros,
        wallet.cap_spent_micros, wallet.cap_held_micros);
      outcome := db.hold_outcome(least(largest, room), asked.least_micros, is_connected, wallet.is_suspended,
        wallet.balance_micros, wallet.cap_micros, wallet.cap_spent_micros, wallet.cap_held_micros,
        wallet.open_streams - cardinality(drains), asked.streams_max, wallet.open_calls, asked.calls_max);
    end if;
    if outcome = 'granted' and asked.placed is null then
      granted := db.granted_hold(least(largest, room), asked.least_micros, asked.most_micros);
      if budget.allowance_micros is not null or budget.lent_micros > budget.lent_spent_micros then -- Real money.
        granted := ledger.granted_of_part(budget, granted, largest, room, asked.least_micros, asked.most_micros, -- Real money.
          asked.budget_micros); -- Real money.
        outcome := case when granted > 0 then 'granted' else 'budget_race_lost' end; -- Real money.
      end if; -- Real money.
    end if;
    if granted > 0 and asked.placed is null then
      amounts[asked.ordinality] := granted;
      wallet.held_micros := wallet.held_micros + granted;
      wallet.cap_held_micros := wallet.cap_held_micros + granted;
      wallet.open_streams := wallet.open_streams - cardinality(drains) + (asked.streams_max > 0)::int;
      wallet.open_calls := wallet.open_calls + (asked.streams_max = 0)::int;
      if asked.budget_key is not null then
        budget.held_micros := budget.held_micros + granted;
        budget.limit_micros := asked.budget_micros; -- Real money.
        budgets[asked.budget] := budget;
      end if;
      if cardinality(drains) > 0 then perform ledger.take_slots(wallet.wallet_id, drains); end if; -- Real money.
    end if;
    return next;
  end loop;
  perform money.book_holds(p_instance, p_requests, wallets, amounts, this_month, budgets);
  if joined <> '{}' then
    update money.holds h set is_joined = true where h.call_id = any (joined) and not h.is_joined;
  end if;
end $$;

revoke all on function money.reserve from public;
grant execute on function money.reserve to purser_money;
