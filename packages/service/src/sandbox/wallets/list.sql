-- The wallets of an app after a user, in the order of users (SB-05). One that the next call would make anew is left out
-- (SB-08).
create or replace function sandbox.list(p_app text, p_after text, p_most int) returns setof sandbox.wallets
language sql stable security definer set search_path = pg_catalog as $$
  select * from sandbox.wallets w
  where w.app_id = p_app and w.user_id > p_after
    and (w.held_micros > 0 or w.last_used_at >= clock_timestamp() - interval '30 days')
  order by w.user_id
  limit p_most;
$$;

revoke all on function sandbox.list from public;
grant execute on function sandbox.list to purser_sandbox;
