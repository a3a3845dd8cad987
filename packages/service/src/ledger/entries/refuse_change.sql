-- Entries and receipts are append-only, also for the owner of the tables. The gateway's role has no right to write them at all (WA-09).
create or replace function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed or removed';
end $$;

revoke all on function ledger.refuse_change from public;

create or replace trigger entries_append_only before update or delete on ledger.journal
  for each row execute function ledger.refuse_change();
create or replace trigger entries_not_truncated before truncate on ledger.journal
  for each statement execute function ledger.refuse_change();
create or replace trigger calls_append_only before update or delete on usage.calls
  for each row execute function ledger.refuse_change();
-- The months of receipts have this trigger from the whole. Against `truncate` each has its own, see also ledger.make_month.
do $$
declare
  part regclass;
begin
  for part in select i.inhrelid from pg_inherits i where i.inhparent = 'usage.calls'::regclass loop
    execute format('create or replace trigger calls_not_truncated before truncate on %s for each statement execute function ledger.refuse_change()', part);
  end loop;
end $$;
