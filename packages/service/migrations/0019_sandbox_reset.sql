-- What an app's owner sees and sets of fake wallets (SB-04, SB-05), and the end of those that nobody uses (SB-08). Locks: none that matter, new functions.

-- Makes a test user's wallet anew, whether or not there was one: holds are dropped, so that what still runs ends
-- uncharged, and counters start at 0.
create function sandbox.reset(p_app text, p_user text, p_balance bigint, p_cap bigint, p_suspended boolean)
returns sandbox.wallets
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet sandbox.wallets;
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into sandbox.wallets (app_id, user_id, balance_micros) values (p_app, p_user, p_balance)
  on conflict (app_id, user_id) do update set last_used_at = excluded.last_used_at -- Locks it.
  returning * into wallet;
  delete from sandbox.holds h where h.wallet_id = wallet.wallet_id;
  update sandbox.wallets w set
    balance_micros = p_balance, held_micros = 0, open_streams = 0,
    cap_micros = p_cap, cap_spent_micros = 0, cap_held_micros = 0,
    is_suspended = p_suspended, requests = 0, tokens = 0, last_used_at = clock_timestamp()
  where w.wallet_id = wallet.wallet_id
  returning * into wallet;
  return wallet;
end $$;

-- Those of an app after a user, in their order. One that the next call would make anew is not there (SB-08).
create function sandbox.list(p_app text, p_after text, p_most int) returns setof sandbox.wallets
language sql stable security definer set search_path = pg_catalog as $$
  select * from sandbox.wallets w
  where w.app_id = p_app and w.user_id > p_after
    and (w.held_micros > 0 or w.last_used_at >= clock_timestamp() - interval '30 days')
  order by w.user_id
  limit p_most;
$$;

-- Looks at the next so many wallets after one, in the order in which they were made, and removes those that have expired.
-- Gives the last that it looked at, nothing at the end. There is no index by last use, which every call would pay for.
create function sandbox.expire(p_after bigint, p_most int) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
  last_seen bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  select max(q.wallet_id) into last_seen from (
    select w.wallet_id from sandbox.wallets w where w.wallet_id > p_after order by w.wallet_id limit p_most
  ) q;
  delete from sandbox.wallets w where w.wallet_id in (
    select e.wallet_id from sandbox.wallets e
    where e.wallet_id > p_after and e.wallet_id <= last_seen
      and e.held_micros = 0 and e.last_used_at < clock_timestamp() - interval '30 days'
    for update skip locked -- One that is locked is in use.
  );
  return last_seen;
end $$;

revoke all on function sandbox.reset, sandbox.list, sandbox.expire from public;
grant execute on function sandbox.reset, sandbox.list, sandbox.expire to purser_sandbox;
