-- Whether calls of a wallet that end are ordinary: each is charged within its hold, the wallet is not clawed, and its month
-- is that of their holds, from the first to the last. PostgreSQL takes this function into the statements that ask it.
create or replace function ledger.are_ordinary_ends(
  are_covered boolean, is_clawed boolean, cap_month date, first_month date, last_month date
) returns boolean
language sql immutable parallel safe as $$
  select are_covered and not is_clawed and cap_month = first_month and cap_month = last_month
$$;

revoke all on function ledger.are_ordinary_ends from public;
