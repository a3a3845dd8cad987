-- Rules of charges that came late (ledger.settle_late): each has a released hold of its wallet, and is at most that with
-- what was lost of it. Where one of the two receipts is in an archive there is nothing to compare. A part of
-- ledger.wallet_differences, in its snapshot.
create or replace function ledger.late_differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable as $$
  with archived_late as (
    select k.receipt_id from usage.late_receipts k where ledger.is_detached(k.call_id) or ledger.is_detached(k.receipt_id)
  )
  select f.rule, coalesce(l.released_of, l.charged_of, j.wallet_id), f.expected, f.found
  from (
    -- Nearly none, so their two receipts are looked up.
    select k.receipt_id::text as cause, c.wallet_id as released_of, r.wallet_id as charged_of, c.held_micros, r.charged_micros
    from usage.late_receipts k
    left join usage.calls c on c.call_id = k.call_id and c.outcome = 'expired'
    left join usage.calls r on r.call_id = k.receipt_id and r.outcome = 'answered'
    where not exists (select from archived_late a where a.receipt_id = k.receipt_id)
  ) l
  full join (
    select * from ledger.journal e
    where e.kind = 'charge_lost' and not exists (select from archived_late a where a.receipt_id::text = e.cause)
  ) j on j.cause = l.cause
  cross join lateral (values
    ('a late charge is of a released hold of its wallet', (l.cause is not null)::int, coalesce((l.released_of = l.charged_of)::int, 0)),
    ('a loss is of a call that was charged late', case when l.charged_of = j.wallet_id then j.amount_micros else 0 end,
      coalesce(j.amount_micros, 0)),
    ('a late charge and its loss are at most the hold', l.held_micros,
      l.held_micros + greatest(0, l.charged_micros + coalesce(j.amount_micros, 0) - l.held_micros))
  ) f (rule, expected, found)
  where f.expected <> f.found
$$;

revoke all on function ledger.late_differences from public;
