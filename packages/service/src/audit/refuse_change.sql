-- The trail is append-only, also for the owner of the tables. The gateway's role has no right to change it either.
create or replace function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'lines of the audit trail are never changed or removed';
end $$;

revoke all on function audit.refuse_change from public;

create or replace trigger entries_append_only before update or delete on audit.entries
  for each row execute function audit.refuse_change();
create or replace trigger entries_not_truncated before truncate on audit.entries
  for each statement execute function audit.refuse_change();

create or replace trigger links_append_only before update or delete on audit.links
  for each row execute function audit.refuse_change();
create or replace trigger links_not_truncated before truncate on audit.links
  for each statement execute function audit.refuse_change();
