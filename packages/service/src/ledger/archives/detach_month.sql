-- Takes the receipts of a closed and archived month out of the database. Its sums stay. The caller has just read the archive
-- back. Waits for every statement that reads or writes receipts, and they wait for it, for a moment. Safe to repeat.
create or replace function ledger.detach_month(p_month date) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  update ledger.months m set detached_at = clock_timestamp()
  where m.month = p_month and m.archived_at is not null and m.detached_at is null;
  if not found then
    return;
  end if;
  execute format('alter table usage.calls detach partition %s', ledger.receipts_of(p_month));
  execute format('drop table %s', ledger.receipts_of(p_month));
end $$;

revoke all on function ledger.detach_month from public;
