-- Places holds (sandbox.reserve) and gives the first call of each wallet that got one the outcome that is set for it, once
-- (decision 19). The wallets stay locked from the one to the other, so of calls at once exactly one takes it. The hold keeps it: if
-- the answer of this statement is lost and the call comes again, it plays the same.
create or replace function sandbox.place(p_instance bigint, p_grant bigint, p_requests db.hold_request[])
returns table (call_id uuid, outcome text, granted bigint, earlier uuid, plays text)
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  calls uuid[]; outcomes text[]; amounts bigint[]; earlier_calls uuid[];
begin
  select array_agg(r.call_id), array_agg(r.outcome), array_agg(r.granted), array_agg(r.earlier)
  into calls, outcomes, amounts, earlier_calls
  from sandbox.reserve(p_instance, p_grant, p_requests) r;
  if exists (
    select from unnest(calls) c (call_id)
    join sandbox.holds h on h.call_id = c.call_id
    join sandbox.wallets w on w.wallet_id = h.wallet_id
    where w.next_outcome is not null
  ) then
    with firsts as (
      select distinct on (h.wallet_id) h.call_id, h.wallet_id, w.next_outcome
      from unnest(p_requests) with ordinality q
      join sandbox.holds h on h.call_id = q.call_id and h.plays is null
      join sandbox.wallets w on w.wallet_id = h.wallet_id and w.next_outcome is not null
      order by h.wallet_id, q.ordinality
    ), taken as (
      update sandbox.wallets w set next_outcome = null from firsts f where w.wallet_id = f.wallet_id
    )
    update sandbox.holds h set plays = f.next_outcome from firsts f where h.call_id = f.call_id;
  end if;
  return query
  select a.call_id, a.outcome, a.granted, a.earlier, h.plays
  from unnest(calls, outcomes, amounts, earlier_calls) a (call_id, outcome, granted, earlier)
  left join sandbox.holds h on h.call_id = a.call_id;
end $$;

revoke all on function sandbox.place from public;
grant execute on function sandbox.place to purser_sandbox;
