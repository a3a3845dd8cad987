-- Locks the sandbox wallets of a batch of calls, in one order, and gives that of each call in its place. A user's first call
-- makes the wallet with the grant (SB-01), and so does the first one after 30 idle days (SB-08).
create or replace function sandbox.lock_wallets(p_requests db.hold_request[], p_grant bigint) returns bigint[]
language plpgsql as $$
declare
  wallets bigint[];
  locked int;
  is_idle boolean; -- Some wallet of these starts anew.
begin
  perform set_config('synchronous_commit', 'off', true); -- Play money may be lost with the power.
  loop
    wallets := array(
      select w.wallet_id from unnest(p_requests) with ordinality q
      left join lateral (
        select v.wallet_id from sandbox.wallets v where v.app_id = q.app_id and v.user_id = q.user_id offset 0
      ) w on true
      order by q.ordinality
    );
    if array_position(wallets, null) is not null then
      -- In one order, and before any wallet is locked, unless one was removed meanwhile. Then two processes may wait for each
      -- other, which ends with the lock timeout.
      insert into sandbox.wallets (app_id, user_id, balance_micros)
      select q.app_id, q.user_id, p_grant from unnest(p_requests) q
      order by q.app_id collate "C", q.user_id collate "C"
      on conflict do nothing;
      continue;
    end if;
    -- Every writer locks in this order. A statement that follows sees what the locks protect.
    select count(*), bool_or(l.held_micros = 0 and l.last_used_at < clock_timestamp() - interval '30 days')
    into locked, is_idle
    from (
      select w.held_micros, w.last_used_at from sandbox.wallets w
      where w.wallet_id = any (wallets) order by w.wallet_id for no key update
    ) l;
    exit when locked = cardinality(wallets);
    exit when locked = (select count(distinct d) from unnest(wallets) d); -- Else one was removed meanwhile (SB-08).
  end loop;
  if is_idle then
    update sandbox.wallets w set
      balance_micros = p_grant, cap_micros = null, cap_spent_micros = 0, is_suspended = false, requests = 0, tokens = 0,
      next_outcome = null, last_used_at = clock_timestamp()
    where w.wallet_id = any (wallets) and w.held_micros = 0 and w.last_used_at < clock_timestamp() - interval '30 days';
  end if;
  return wallets;
end $$;

revoke all on function sandbox.lock_wallets from public;
