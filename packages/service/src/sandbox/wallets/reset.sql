-- Makes a test user's wallet anew, whether or not there was one (SB-04). Its holds are dropped, so calls that still run end
-- uncharged, and the counters start at 0. Answers that were kept before are given to nobody (CC-14).
create or replace function sandbox.reset(p_app text, p_user text, p_balance bigint, p_cap bigint, p_suspended boolean)
returns sandbox.wallets
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet sandbox.wallets;
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into sandbox.wallets (app_id, user_id, balance_micros) values (p_app, p_user, p_balance)
  on conflict (app_id, user_id) do update set last_used_at = excluded.last_used_at -- Locks it.
  returning * into wallet;
  -- Budgets of keys get back what these holds have of them, and keep what was spent: they are of other users too.
  perform from (
    select distinct h.budget_key as key_id, h.month from sandbox.holds h
    where h.wallet_id = wallet.wallet_id and h.budget_key is not null
  ) d
  join sandbox.key_budgets b on b.key_id = d.key_id and b.month = d.month
  order by b.key_id, b.month for no key update of b;
  with dropped as (
    delete from sandbox.holds h where h.wallet_id = wallet.wallet_id returning h.budget_key, h.month, h.amount_micros
  )
  update sandbox.key_budgets b set held_micros = b.held_micros - t.amount
  from (
    select d.budget_key, d.month, sum(d.amount_micros)::bigint as amount
    from dropped d where d.budget_key is not null group by d.budget_key, d.month
  ) t
  where b.key_id = t.budget_key and b.month = t.month;
  delete from sandbox.sessions s where s.wallet_id = wallet.wallet_id;
  update sandbox.wallets w set
    balance_micros = p_balance, held_micros = 0, open_streams = 0, open_calls = 0,
    cap_micros = p_cap, cap_spent_micros = 0, cap_held_micros = 0,
    is_suspended = p_suspended, requests = 0, tokens = 0, last_used_at = clock_timestamp(), reset_at = clock_timestamp(),
    next_outcome = null
  where w.wallet_id = wallet.wallet_id
  returning * into wallet;
  return wallet;
end $$;

revoke all on function sandbox.reset from public;
grant execute on function sandbox.reset to purser_sandbox;
