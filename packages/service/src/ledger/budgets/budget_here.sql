-- How much of a key's budget may be spent and held in this cell. `allowance` is null in a database that borrows nothing: all of it. An allowance that
-- was lent under a larger budget is none: the owner has lowered it since, and what other cells have spent may be more than is left.
create or replace function ledger.budget_here(budget bigint, allowance bigint, allowance_limit bigint) returns bigint
language sql immutable parallel safe as $$
  select case when budget < allowance_limit then 0 else least(budget, allowance) end
$$;

revoke all on function ledger.budget_here from public;
