-- What an entry adds to the balance of its wallet: less than nothing where money leaves it.
create or replace function ledger.added_to_wallet(debit ledger.book, credit ledger.book, amount bigint) returns bigint
language sql immutable parallel safe as $$
  select case when credit = 'wallet' then amount when debit = 'wallet' then -amount else 0 end
$$;

revoke all on function ledger.added_to_wallet from public;
