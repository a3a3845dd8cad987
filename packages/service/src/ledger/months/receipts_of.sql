-- The table that has the receipts of a month: a part of usage.calls, while it is attached.
create or replace function ledger.receipts_of(p_month date) returns text
language sql immutable parallel safe as $$
  select 'usage.calls_' || extract(year from p_month) || '_' || lpad(extract(month from p_month)::text, 2, '0')
$$;

revoke all on function ledger.receipts_of from public;
