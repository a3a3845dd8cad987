-- Sets or clears the outcome of a test user's next call (decision 19). A user without a wallet gets one with the grant, as by a call.
create or replace function sandbox.set_next(p_app text, p_user text, p_grant bigint, p_outcome text) returns sandbox.wallets
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet sandbox.wallets;
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from sandbox.wallets w -- It has expired (SB-08).
  where w.app_id = p_app and w.user_id = p_user
    and w.held_micros = 0 and w.last_used_at < clock_timestamp() - interval '30 days';
  insert into sandbox.wallets (app_id, user_id, balance_micros, next_outcome) values (p_app, p_user, p_grant, p_outcome)
  on conflict (app_id, user_id) do update set next_outcome = excluded.next_outcome, last_used_at = excluded.last_used_at
  returning * into wallet;
  return wallet;
end $$;

revoke all on function sandbox.set_next from public;
grant execute on function sandbox.set_next to purser_sandbox;
