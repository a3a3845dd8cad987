-- In a cell that borrows: gives up what it does not use of a budget, and says what it keeps: what is spent and held. From here on the home may lend that to
-- others. Nothing happens if a later message has come already.
create or replace function ledger.give_back_allowance(p_key text, p_month date, p_number bigint)
returns table (is_given_back boolean, used bigint, spent bigint)
language plpgsql security definer set search_path = pg_catalog as $$
begin
  insert into ledger.key_budgets (key_id, month) values (p_key, p_month) on conflict do nothing;
  return query
  update ledger.key_budgets b set
    allowance_micros = least(coalesce(b.allowance_micros, 0), b.spent_micros + b.held_micros),
    allowance_number = p_number
  where b.key_id = p_key and b.month = p_month and b.allowance_number < p_number
  returning true, b.spent_micros + b.held_micros, b.spent_micros;
  if not found then
    return query select false, 0::bigint, 0::bigint;
  end if;
end $$;

revoke all on function ledger.give_back_allowance from public;
grant execute on function ledger.give_back_allowance to purser_live;
