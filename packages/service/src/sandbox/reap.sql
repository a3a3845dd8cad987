-- The same for play money; that one fences and forgets.
create or replace function sandbox.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  orphans uuid[];
  released int := 0;
begin
  orphans := array(
    select h.call_id from sandbox.holds h
    where p_most > 0 and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')
  );
  if cardinality(orphans) = 0 then
    return 0;
  end if;
  begin
    perform from sandbox.wallets w
    where w.wallet_id = (
      select h.wallet_id from sandbox.holds h where h.call_id = any (orphans) order by random() limit 1
    )
    for update;
  exception when lock_not_available then
    null;
  end;
  select count(*) filter (where s.is_settled) into released
  from (
    select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero from (
      select h.call_id from unnest(orphans) o (call_id)
      cross join lateral (
        select h.call_id, h.wallet_id from sandbox.holds h where h.call_id = o.call_id offset 0
      ) h
      cross join lateral (
        select from sandbox.wallets w where w.wallet_id = h.wallet_id for update skip locked
      ) w
      limit p_most
    ) o
  ) a, lateral sandbox.settle(a.calls, a.zero, a.zero) s;
  return released;
end $$;

revoke all on function sandbox.reap from public;
grant execute on function sandbox.reap to purser_sandbox;
