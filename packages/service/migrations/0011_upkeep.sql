-- Which database this is, and reapers that wait for nobody and leave no register of the long dead behind. Locks: none that
-- matter, one new table.

-- A name that a database keeps through restarts, dumps and moves: what lies on the disk of a gateway belongs to it alone.
create table db.identity (
  is_only boolean primary key default true check (is_only),
  database_id uuid not null default gen_random_uuid()
);
insert into db.identity default values;
grant select on db.identity to purser_live;

-- Fences every process whose lease has run out and releases the holds of fenced ones, `p_most` at a time (WA-10). With 0
-- it fences nothing: a reaper that has just reached the database asks only whether it answers. A wallet that is locked is
-- left to a later pass, so that it keeps no other's holds from coming back.
create or replace function ledger.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
  update db.instances i set state = 'dead'
  where p_most > 0 and i.state = 'live' and i.lease_until < clock_timestamp();
  select count(*) filter (where s.is_settled) into released
  from (
    select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero, array_agg(null::bigint) as no_price,
      array_agg(null::text) as no_text, array_agg('expired'::text) as outcome, array_agg(false) as no
    from (
      select h.call_id from ledger.holds h
      join db.instances i on i.instance_id = h.instance_id
      join ledger.wallets w on w.wallet_id = h.wallet_id
      where i.state = 'dead'
        -- A hold beside the receipt of its call cannot be, and if it is, it must not keep the others from coming back.
        and not exists (select from usage.calls c where c.call_id = h.call_id)
      limit p_most
      for no key update of w skip locked
    ) o
  ) a, lateral ledger.settle(a.calls, a.zero, a.no_text, a.no_price, a.outcome, a.no, a.no, a.zero, a.zero, a.zero,
    a.zero, a.no_text) s;
  -- Kept for a day, for whoever looks into what happened. Sandbox holds of processes that are gone are free without it.
  delete from db.instances i
  where p_most > 0 and i.state = 'dead' and i.lease_until < clock_timestamp() - interval '1 day'
    and not exists (select from ledger.holds h where h.instance_id = i.instance_id);
  return released;
end $$;

-- Releases the holds of processes that are fenced or forgotten, as ledger.reap does; that one fences and forgets them.
create or replace function sandbox.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
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
