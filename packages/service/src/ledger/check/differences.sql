-- The full check: the differences of all wallets, and of money that was set aside for refunds. What is set aside must end
-- once, and whole: paid out, or released.
create or replace function ledger.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with asides as (
    select e.wallet_id, substr(e.cause, length(e.kind::text) + 1) as name,
      coalesce(sum(e.amount_micros) filter (where e.kind = 'refund_set_aside'), 0)::bigint as aside,
      coalesce(sum(e.amount_micros) filter (where e.kind <> 'refund_set_aside'), 0)::bigint as ended,
      count(*) filter (where e.kind <> 'refund_set_aside') as ends
    from ledger.entries e where e.kind in ('refund_set_aside', 'refund_paid', 'refund_released')
    group by e.wallet_id, name
  )
  select * from ledger.wallet_differences()
  union all
  select 'what is set aside ends once, and whole', a.wallet_id, a.aside, a.ended
  from asides a where a.ends > 0 and (a.ends > 1 or a.ended <> a.aside)
  union all
  select 'no more is paid out or released than was set aside', a.wallet_id, sum(a.aside)::bigint, sum(a.ended)::bigint
  from asides a group by a.wallet_id having sum(a.ended) > sum(a.aside)
$$;

revoke all on function ledger.differences from public;
grant execute on function ledger.differences to purser_live;
