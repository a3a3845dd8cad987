-- Fences every process whose lease has run out and releases the holds of those that are fenced or forgotten, `p_most` at
-- a time (WA-10). With 0 it fences nothing: a reaper that has just reached the database asks only whether it answers. A
-- wallet that is locked is left to a later pass, but for one, so that it keeps no other's holds from coming back.
create or replace function ledger.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  orphans uuid[];
  released int := 0;
begin
  update db.instances i set state = 'dead'
  where p_most > 0 and i.state = 'live' and i.lease_until < clock_timestamp();
  -- Dead or forgotten: a hold that was being placed while its process was forgotten is found all the same.
  orphans := array(
    select h.call_id from ledger.holds h
    where p_most > 0 and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
  );
  if cardinality(orphans) > 0 then
    -- A hold beside the receipt of its call cannot be, and if it is, it must not keep the others from coming back.
    orphans := array(
      select o.call_id from unnest(orphans) o (call_id)
      left join lateral (select true as has_ended from usage.calls c where c.call_id = o.call_id offset 0) c on true
      where c.has_ended is null
    );
    -- A wallet that is always in use is never found unlocked: one, another each time, is waited for in line.
    begin
      perform from ledger.wallets w
      where w.wallet_id = (
        select h.wallet_id from ledger.holds h where h.call_id = any (orphans) order by random() limit 1
      )
      for no key update;
    exception when lock_not_available then
      null; -- Left to a later pass.
    end;
    select count(*) filter (where s.is_settled) into released
    from (
      select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero, array_agg(null::bigint) as no_price,
        array_agg(null::text) as no_text, array_agg('expired'::text) as outcome, array_agg(false) as no
      from (
        select h.call_id from unnest(orphans) o (call_id)
        cross join lateral (
          select h.call_id, h.wallet_id from ledger.holds h where h.call_id = o.call_id offset 0
        ) h
        cross join lateral (
          select from ledger.wallets w where w.wallet_id = h.wallet_id for no key update skip locked
        ) w
        limit p_most
      ) o
    ) a, lateral ledger.settle(a.calls, a.zero, a.no_text, a.no_price, a.outcome, a.no, a.no, a.zero, a.zero, a.zero,
      a.zero, a.no_text) s;
  end if;
  delete from db.instances i
  where p_most > 0 and i.state = 'dead' and i.lease_until < clock_timestamp() - interval '1 day'
    and not exists (select from ledger.holds h where h.instance_id = i.instance_id);
  return released;
end $$;

revoke all on function ledger.reap from public;
grant execute on function ledger.reap to purser_live;
