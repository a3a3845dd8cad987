-- What a sum of a wallet's cap counts in a month: nothing if it is of another one, as a cap begins anew with each (WA-08).
create or replace function db.in_month(amount bigint, its_month date, month date) returns bigint
language sql immutable parallel safe as $$
  select case when its_month = month then amount else 0 end
$$;

revoke all on function db.in_month from public;
