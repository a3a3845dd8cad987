-- The full check: the differences of all wallets, of money that was set aside for refunds, and of the budgets of API keys.
-- What is set aside must end once, and whole: paid out, or released.
create or replace function ledger.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with asides as (
    select e.wallet_id, substr(e.cause, length(e.kind::text) + 1) as name,
      coalesce(sum(e.amount_micros) filter (where e.kind = 'refund_set_aside'), 0)::bigint as aside,
      coalesce(sum(e.amount_micros) filter (where e.kind <> 'refund_set_aside'), 0)::bigint as ended,
      count(*) filter (where e.kind <> 'refund_set_aside') as ends
    from ledger.acts e where e.kind in ('refund_set_aside', 'refund_paid', 'refund_released')
    group by e.wallet_id, name
  )
  select * from ledger.wallet_differences()
  union all
  select 'what is set aside ends once, and whole', a.wallet_id, a.aside, a.ended
  from asides a where a.ends > 0 and (a.ends > 1 or a.ended <> a.aside)
  union all
  select 'no more is paid out or released than was set aside', a.wallet_id, sum(a.aside)::bigint, sum(a.ended)::bigint
  from asides a group by a.wallet_id having sum(a.ended) > sum(a.aside)
  union all
  -- Budgets of API keys (CP-08). They are of many wallets, so none is named.
  select format('the budget of %s in %s: %s', t.budget_key, to_char(t.month, 'YYYY-MM'), f.what), 0, f.expected, f.found
  from (
    select u.budget_key, u.month, sum(u.counted)::bigint as counted, sum(u.spent)::bigint as spent,
      sum(u.booked)::bigint as booked, sum(u.held)::bigint as held
    from (
      select c.budget_key, c.month, c.charged_micros as counted, 0 as spent, 0 as booked, 0 as held
      from usage.calls c where c.budget_key is not null
      union all
      select s.key_id, s.spent_month, s.charged_micros, 0, 0, 0
      from ledger.months m join ledger.month_budgets s on s.month = m.month where m.detached_at is not null
      union all
      select h.budget_key, h.month, 0, 0, h.amount_micros, 0 from ledger.holds h where h.budget_key is not null
      union all
      select b.key_id, b.month, 0, b.spent_micros, 0, b.held_micros from ledger.key_budgets b
    ) u
    group by u.budget_key, u.month
  ) t
  cross join lateral (
    values ('spent is the sum of its charges', t.counted, t.spent), ('held is the sum of its holds', t.booked, t.held)
  ) f (what, expected, found)
  where f.expected <> f.found
  union all
  select format('the budget of %s in %s: lent is the sum of its allowances', b.key_id, to_char(b.month, 'YYYY-MM')), 0,
    coalesce(a.lent, 0), b.lent_micros
  from ledger.key_budgets b
  left join (
    select l.key_id, l.month, sum(l.lent_micros)::bigint as lent from ledger.allowances l group by l.key_id, l.month
  ) a on a.key_id = b.key_id and a.month = b.month
  where coalesce(a.lent, 0) <> b.lent_micros
$$;

revoke all on function ledger.differences from public;
grant execute on function ledger.differences to purser_live;
