-- Whether an entry of a kind moves between these books: the check of every entry that is written.
--
-- PostgreSQL reads and plans a CHECK anew in each statement that writes. It would take a function in SQL into the check,
-- with all its cases. It does not do so with this one in PL/pgSQL, and a connection plans that once.
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
    where c.conrelid = 'ledger.journal'::regclass and c.conname = 'kind_moves_between_its_books'
  ) then
    alter table ledger.journal
      add constraint kind_moves_between_its_books check (ledger.moves_between(kind, debit, credit));
  end if;
end $$;
