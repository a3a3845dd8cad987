-- In a cell that borrows: takes note of what the home of a budget has lent, unless a later message has come already. `p_is_all`: there is no more to be
-- had now, so calls go on with what there is for a second. Without that, a call that would get less than it asks for is refused, so that its gateway asks.
create or replace function ledger.take_allowance(
  p_key text, p_month date, p_lent bigint, p_limit bigint, p_number bigint, p_is_all boolean
) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  insert into ledger.key_budgets (key_id, month) values (p_key, p_month) on conflict do nothing;
  update ledger.key_budgets b set
    allowance_micros = case when p_number > b.allowance_number then p_lent else b.allowance_micros end,
    allowance_limit = case when p_number > b.allowance_number then p_limit else b.allowance_limit end,
    allowance_number = greatest(b.allowance_number, p_number),
    no_more_until = case when p_is_all then clock_timestamp() + interval '1 second' end
  where b.key_id = p_key and b.month = p_month;
end $$;

revoke all on function ledger.take_allowance from public;
grant execute on function ledger.take_allowance to purser_live;
