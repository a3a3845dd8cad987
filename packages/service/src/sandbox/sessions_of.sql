-- Sessions of a test user, those that began last first (CP-19): before one, or from the newest on.
create or replace function sandbox.sessions_of(p_app text, p_user text, p_before bigint, p_most int) returns setof sandbox.sessions
language sql stable security definer set search_path = pg_catalog as $$
  select s.* from sandbox.sessions s
  where s.wallet_id = (select w.wallet_id from sandbox.wallets w where w.app_id = p_app and w.user_id = p_user)
    and s.session_id < p_before
  order by s.session_id desc
  limit p_most;
$$;

revoke all on function sandbox.sessions_of from public;
grant execute on function sandbox.sessions_of to purser_sandbox;
