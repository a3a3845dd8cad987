-- Sessions of a user's wallet, those that began last first (CP-19): before one, or from the newest on.
create or replace function usage.sessions_of(p_app text, p_user text, p_before bigint, p_most int) returns setof usage.sessions
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select s.* from usage.sessions s
  where s.wallet_id = (select w.wallet_id from ledger.wallets w where w.app_id = p_app and w.user_id = p_user)
    and s.session_id < p_before
  order by s.session_id desc
  limit p_most;
$$;

revoke all on function usage.sessions_of from public;
grant execute on function usage.sessions_of to purser_live;
