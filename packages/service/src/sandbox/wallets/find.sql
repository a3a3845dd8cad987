-- The wallet of one test user. None if the next call would make it anew (SB-08).
create or replace function sandbox.find(p_app text, p_user text) returns setof sandbox.wallets
language sql stable security definer set search_path = pg_catalog as $$
  select * from sandbox.wallets w
  where w.app_id = p_app and w.user_id = p_user
    and (w.held_micros > 0 or w.last_used_at >= clock_timestamp() - interval '30 days');
$$;

revoke all on function sandbox.find from public;
grant execute on function sandbox.find to purser_sandbox;
