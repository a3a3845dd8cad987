-- What is booked for some calls, each looked up by its id: what its receipt says, what was charged late and what we lost by that
-- (WA-10, WA-14). `held` is null if the call has no receipt: it runs, or the books have never heard of it.
-- `is_archived`: a receipt of it is in an archive, so nothing can be said.
create or replace function ledger.booked_for(p_calls uuid[]) returns table (
  call_id uuid, held bigint, charged bigint, is_late boolean, late bigint, lost bigint, is_running boolean, is_archived boolean
)
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select t.call_id, c.held_micros, coalesce(c.charged_micros, 0), l.receipt_id is not null, coalesce(r.charged_micros, 0),
    coalesce(j.amount_micros, 0), h.call_id is not null,
    c.call_id is null and ledger.is_detached(t.call_id) or r.call_id is null and ledger.is_detached(l.receipt_id)
  from unnest(p_calls) t (call_id)
  left join usage.calls c on c.call_id = t.call_id
  left join usage.late_receipts l on l.call_id = t.call_id
  left join usage.calls r on r.call_id = l.receipt_id
  left join ledger.journal j on j.cause = l.receipt_id::text and j.kind = 'charge_lost'
  left join ledger.holds h on h.call_id = t.call_id and c.call_id is null
$$;

revoke all on function ledger.booked_for from public;
grant execute on function ledger.booked_for to purser_live;
