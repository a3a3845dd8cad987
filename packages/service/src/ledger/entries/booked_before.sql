-- Whether an act was booked before: 'repeated'; 'conflict' where its key stood for another amount; null where it was not.
create or replace function ledger.booked_before(p_cause text, p_kinds ledger.entry_kind[], p_amount bigint) returns text
language sql stable set search_path = pg_catalog as $$
  select case when sum(e.amount_micros) = p_amount then 'repeated' else 'conflict' end
  from ledger.acts e where e.cause = p_cause and e.kind = any (p_kinds)
  having count(*) > 0
$$;

revoke all on function ledger.booked_before from public;
