-- Those of a batch's calls that have ended: a call ends once, and gets no second hold. The first and the last of them bound
-- the months of receipts that are looked at. PostgreSQL takes this function into the statements that ask it.
create or replace function ledger.ended_calls(p_requests db.hold_request[]) returns setof uuid
language sql stable parallel safe as $$
  select c.call_id from usage.calls c
  where c.call_id = any (array(select q.call_id from unnest(p_requests) q))
    and c.call_id >= (select q.call_id from unnest(p_requests) q order by q.call_id limit 1)
    and c.call_id <= (select q.call_id from unnest(p_requests) q order by q.call_id desc limit 1)
$$;

revoke all on function ledger.ended_calls from public;
