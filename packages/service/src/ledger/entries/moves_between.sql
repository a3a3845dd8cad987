-- Whether an entry of a kind moves between these books. PostgreSQL reads and plans a CHECK anew in each statement that writes.
-- A function in SQL is taken into the check, all its cases with it; this one is not, and a connection plans it once.
create or replace function ledger.moves_between(p_kind ledger.entry_kind, p_debit ledger.book, p_credit ledger.book) returns boolean
language plpgsql immutable parallel safe as $$
begin
  return p_debit = ledger.debit_of(p_kind) and p_credit = ledger.credit_of(p_kind);
end $$;

revoke all on function ledger.moves_between from public;

-- The check stands here because it needs the function. It is added once: adding it reads every entry under a lock.
do $$
begin
  if not exists (
    select from pg_constraint c
    where c.conrelid = 'ledger.entries'::regclass and c.conname = 'kind_moves_between_its_books'
  ) then
    alter table ledger.entries
      add constraint kind_moves_between_its_books check (ledger.moves_between(kind, debit, credit));
  end if;
end $$;
