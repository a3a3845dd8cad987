-- Undoes a turn by what is seen under the locks of its wallets: a process that asks for a hold is fenced, or a call that
-- asks has ended. The latter is then for ledger.reserve.
create or replace function ledger.refuse_holds(p_instances bigint[], p_requests db.hold_request[]) returns void
language plpgsql as $$
declare
  is_live boolean;
  has_ended boolean;
begin
  select count(distinct p.id) = (
      select count(*) from db.instances i where i.instance_id = any (p_instances) and i.state = 'live'
    ),
    exists (select from ledger.ended_calls(p_requests))
  into is_live, has_ended
  from unnest(p_instances) p (id);
  if not is_live then
    raise exception 'a process of % is fenced', p_instances using errcode = '55000';
  elsif has_ended then
    raise exception 'a call has ended' using errcode = '40001';
  end if;
end $$;

revoke all on function ledger.refuse_holds from public;
