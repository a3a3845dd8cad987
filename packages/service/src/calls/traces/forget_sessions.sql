-- Takes the names of sessions away from the traces of a user's calls (CP-19).
create or replace function traces.forget_sessions(p_app text, p_user text) returns void
language sql volatile set search_path = pg_catalog as $$
  update traces.calls t set session = null
  where t.app_id = p_app and t.user_id = p_user and t.session is not null and t.mode = 'live';
$$;

revoke all on function traces.forget_sessions from public;
