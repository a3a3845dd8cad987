-- Books what the calls of a batch are granted: their holds, and what these take of the locked wallets and budgets.
create or replace function money.book_holds(
  p_instance bigint, p_requests db.hold_request[], p_wallets bigint[], p_amounts bigint[], p_month date,
  p_budgets money.key_budgets[]
) returns void
language plpgsql as $$
begin
  if not 0 < any (p_amounts) then return; end if; -- Real money.
  update money.wallets w set
    held_micros = w.held_micros + g.amount,
    open_streams = w.open_streams + g.streams,
    open_calls = w.open_calls + g.plain,
    cap_month = greatest(w.cap_month, p_month), -- Never back: the clock of another server may be ahead (WA-08).
    cap_spent_micros = db.in_month(w.cap_spent_micros, w.cap_month, greatest(w.cap_month, p_month)),
    cap_held_micros = db.in_month(w.cap_held_micros, w.cap_month, greatest(w.cap_month, p_month)) + g.amount,
    version = w.version + g.streams + g.plain -- Real money.
    last_used_at = clock_timestamp() -- By a call that is refused too. -- Play money.
  from (
    select a.wallet_id, sum(a.amount)::bigint as amount,
      count(*) filter (where a.amount > 0 and a.streams_max > 0) as streams,
      count(*) filter (where a.amount > 0 and a.streams_max = 0) as plain
    from (
      select q.streams_max, p_wallets[q.ordinality] as wallet_id, p_amounts[q.ordinality] as amount
      from unnest(p_requests) with ordinality q
    ) a
    where a.amount > 0 -- Real money.
    group by a.wallet_id
  ) g
  where w.wallet_id = g.wallet_id;
  insert into money.holds (
    call_id, wallet_id, amount_micros, month, is_stream, key_digest, body_digest, instance_id, budget_key)
  select q.call_id, w.wallet_id, p_amounts[q.ordinality], w.cap_month, q.streams_max > 0, q.key_digest, q.body_digest,
    p_instance, q.budget_key
  from unnest(p_requests) with ordinality q
  cross join lateral (
    select v.wallet_id, v.cap_month from money.wallets v where v.wallet_id = p_wallets[q.ordinality] offset 0
  ) w
  where p_amounts[q.ordinality] > 0;
  if p_budgets is not null then
    update money.key_budgets b set
      limit_micros = u.limit_micros, -- For charges that come late. -- Real money.
      held_micros = u.held_micros
    from unnest(p_budgets) u
    where b.key_id = u.key_id and b.month = u.month and b.held_micros <> u.held_micros;
  end if;
end $$;

revoke all on function money.book_holds from public;
