-- Locks the wallets of calls that end, and then the budgets that their holds count for, in the order of money.reserve: what a
-- hold counts for never changes. Says whether there is one. The statement that follows sees what the locks protect.
create or replace function money.lock_held(p_calls uuid[]) returns boolean
language plpgsql as $$
begin
  perform from money.wallets w
  where w.wallet_id = any (array(select h.wallet_id from money.holds h where h.call_id = any (p_calls)))
  order by w.wallet_id for no key update;
  perform from (
    select distinct h.budget_key as key_id, h.month from money.holds h
    where h.call_id = any (p_calls) and h.budget_key is not null
  ) d
  join money.key_budgets b on b.key_id = d.key_id and b.month = d.month
  order by b.key_id, b.month for no key update of b;
  return found;
end $$;

revoke all on function money.lock_held from public;
