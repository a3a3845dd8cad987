-- A budget above all that there are: an allowance with this limit may not be spent.
create or replace function ledger.no_limit() returns bigint
language sql immutable parallel safe as $$
  select 9223372036854775807
$$;

revoke all on function ledger.no_limit from public;
