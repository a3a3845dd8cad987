-- As ledger.reap, over sandbox wallets: releases the holds of processes that are fenced or forgotten, `p_most` at a time.
-- Fencing and forgetting is left to ledger.reap.
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
    null; -- Left to a later pass.
  end;
  select count(*) filter (where s.is_settled) into released
  from sandbox.settle(array(
    select row(h.call_id, 0, 0, false)::sandbox.settlement from unnest(orphans) o (call_id)
    cross join lateral (
      select h.call_id, h.wallet_id from sandbox.holds h where h.call_id = o.call_id offset 0
    ) h
    cross join lateral (
      select from sandbox.wallets w where w.wallet_id = h.wallet_id for update skip locked
    ) w
    limit p_most
  )) s;
  return released;
end $$;

revoke all on function sandbox.reap from public;
grant execute on function sandbox.reap to purser_sandbox;
