-- What an entry adds to what its wallet owes: the debit of the receivable is the positive side.
create or replace function ledger.added_to_receivable(debit ledger.book, credit ledger.book, amount bigint) returns bigint
language sql immutable parallel safe as $$
  select case when debit = 'receivable' then amount when credit = 'receivable' then -amount else 0 end
$$;

revoke all on function ledger.added_to_receivable from public;
