-- Sessions of a test user, those that began last first (CP-19): before a place in microseconds, or from the newest on.
create or replace function sandbox.sessions_of(p_app text, p_user text, p_begun bigint, p_session bigint, p_most int)
returns setof sandbox.sessions
language sql stable security definer set search_path = pg_catalog as $$
  select s.* from sandbox.sessions s
  where s.wallet_id = (select w.wallet_id from sandbox.wallets w where w.app_id = p_app and w.user_id = p_user)
    and (s.begun_at, s.session_id) <
      (coalesce(timestamptz 'epoch' + p_begun * interval '1 microsecond', 'infinity'), coalesce(p_session, 0))
  order by s.begun_at desc, s.session_id desc
  limit p_most;
$$;

revoke all on function sandbox.sessions_of from public;
grant execute on function sandbox.sessions_of to purser_sandbox;
