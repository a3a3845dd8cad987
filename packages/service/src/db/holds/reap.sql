-- Releases the holds of processes that are fenced or forgotten, `p_most` at a time, uncharged (WA-10). A wallet that is
-- locked is left to a later pass, except one, so that it keeps no other's holds from coming back. With 0 it does nothing: a
-- reaper that has just reached the database asks only whether it answers. That of real money also fences processes.
--
-- Every process asks this once a second, and nearly always there is nothing to release. So orphaned holds are looked for
-- first, and only where there are some is anything else looked at.
create or replace function money.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  orphans uuid[];
  released int := 0;
begin
  update db.instances i set state = 'dead' -- Real money.
  where p_most > 0 and i.state = 'live' and i.lease_until < clock_timestamp(); -- Real money.
  -- Dead or forgotten: a hold that was being placed while its process was forgotten is found all the same.
  orphans := array(
    select h.call_id from money.holds h
    where p_most > 0 and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
  );
  -- There should be no hold beside the receipt of its call. If there is one, it must not keep the others from coming back. -- Real money.
  orphans := array( -- Real money.
    select o.call_id from unnest(orphans) o (call_id) -- Real money.
    left join lateral (select true as has_ended from usage.calls c where c.call_id = o.call_id offset 0) c on true -- Real money.
    where c.has_ended is null -- Real money.
  ); -- Real money.
  if cardinality(orphans) > 0 then
    -- A wallet that is always in use is never found unlocked. So one wallet, another each time, is waited for in line.
    begin
      perform from money.wallets w
      where w.wallet_id = (
        select h.wallet_id from money.holds h where h.call_id = any (orphans) order by random() limit 1
      )
      for no key update;
    exception when lock_not_available then
      null; -- Left to a later pass.
    end;
    select count(*) filter (where s.is_settled) into released
    from money.settle(array(
      select ledger.expired(h.call_id) from unnest(orphans) o (call_id) -- Real money.
      select row(h.call_id, 0, 0, false)::sandbox.settlement from unnest(orphans) o (call_id) -- Play money.
      cross join lateral (
        select h.call_id, h.wallet_id from money.holds h where h.call_id = o.call_id offset 0
      ) h
      cross join lateral (
        select from money.wallets w where w.wallet_id = h.wallet_id for no key update skip locked
      ) w
      limit p_most
    )) s;
  end if;
  -- A process that has been dead for a day is forgotten. -- Real money.
  delete from db.instances i -- Real money.
  where p_most > 0 and i.state = 'dead' and i.lease_until < clock_timestamp() - interval '1 day' -- Real money.
    and not exists (select from ledger.holds h where h.instance_id = i.instance_id); -- Real money.
  return released;
end $$;

revoke all on function money.reap from public;
grant execute on function money.reap to purser_money;
