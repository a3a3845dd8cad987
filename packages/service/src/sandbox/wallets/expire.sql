-- Looks at the next `p_most` wallets after one, in the order in which they were made, and removes those that nobody has used
-- for 30 days (SB-08). Gives the last that it looked at; null at the end. There is no index by last use: every call would
-- pay for it.
create or replace function sandbox.expire(p_after bigint, p_most int) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
  last_seen bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  select max(q.wallet_id) into last_seen from (
    select w.wallet_id from sandbox.wallets w where w.wallet_id > p_after order by w.wallet_id limit p_most
  ) q;
  delete from sandbox.sessions s where s.session_id in (
    select e.session_id from sandbox.sessions e
    where e.wallet_id > p_after and e.wallet_id <= last_seen and e.last_at < clock_timestamp() - interval '30 days'
    for update skip locked
  );
  delete from sandbox.wallets w where w.wallet_id in (
    select e.wallet_id from sandbox.wallets e
    where e.wallet_id > p_after and e.wallet_id <= last_seen
      and e.held_micros = 0 and e.last_used_at < clock_timestamp() - interval '30 days'
    for update skip locked -- One that is locked is in use.
  );
  return last_seen;
end $$;

revoke all on function sandbox.expire from public;
grant execute on function sandbox.expire to purser_sandbox;
