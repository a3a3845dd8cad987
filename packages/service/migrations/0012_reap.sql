-- Reapers that a busy wallet cannot starve, and that find holds of processes which were forgotten too soon. Locks: none,
-- functions alone.

-- Fences every process whose lease has run out and releases the holds of those that are fenced or forgotten, `p_most` at
-- a time (WA-10). With 0 it fences nothing: a reaper that has just reached the database asks only whether it answers. A
-- wallet that is locked is left to a later pass, but for one, so that it keeps no other's holds from coming back.
create or replace function ledger.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
  update db.instances i set state = 'dead'
  where p_most > 0 and i.state = 'live' and i.lease_until < clock_timestamp();
  -- A wallet that is always in use is never found unlocked: one, another each time, is waited for in line.
  begin
    perform from ledger.wallets w
    where w.wallet_id = (
      select h.wallet_id from ledger.holds h
      where p_most > 0
        and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
        and not exists (select from usage.calls c where c.call_id = h.call_id)
      order by random() limit 1
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
      select h.call_id from ledger.holds h
      join ledger.wallets w on w.wallet_id = h.wallet_id
      -- Dead or forgotten: a hold that was being placed while its process was forgotten is found all the same.
      where not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
        -- A hold beside the receipt of its call cannot be, and if it is, it must not keep the others from coming back.
        and not exists (select from usage.calls c where c.call_id = h.call_id)
      limit p_most
      for no key update of w skip locked
    ) o
  ) a, lateral ledger.settle(a.calls, a.zero, a.no_text, a.no_price, a.outcome, a.no, a.no, a.zero, a.zero, a.zero,
    a.zero, a.no_text) s;
  delete from db.instances i
  where p_most > 0 and i.state = 'dead' and i.lease_until < clock_timestamp() - interval '1 day'
    and not exists (select from ledger.holds h where h.instance_id = i.instance_id);
  return released;
end $$;

-- The same for play money; that one fences and forgets.
create or replace function sandbox.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
  begin
    perform from sandbox.wallets w
    where w.wallet_id = (
      select h.wallet_id from sandbox.holds h
      where p_most > 0
        and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
      order by random() limit 1
    )
    for update;
  exception when lock_not_available then
    null;
  end;
  select count(*) filter (where s.is_settled) into released
  from (
    select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero from (
      select h.call_id from sandbox.holds h
      join sandbox.wallets w on w.wallet_id = h.wallet_id
      where not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
      limit p_most
      for update of w skip locked
    ) o
  ) a, lateral sandbox.settle(a.calls, a.zero, a.zero) s;
  return released;
end $$;
