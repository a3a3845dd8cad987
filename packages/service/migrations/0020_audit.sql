-- What operators did. Locks: none that matter, everything is new.

create schema audit;
grant usage on schema audit to purser_live;

-- Written in the transaction of the act, and never changed, by whomever.
create table audit.entries (
  entry_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text collate "C" not null, -- The account, `command-line` or `settings`.
  action text collate "C" not null,
  subject text collate "C" not null,
  reason text
);

create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'lines of the audit trail are never changed or removed';
end $$;
create trigger entries_append_only before update or delete on audit.entries
  for each row execute function audit.refuse_change();
create trigger entries_not_truncated before truncate on audit.entries
  for each statement execute function audit.refuse_change();

-- The number and the time of a line are the database's to say.
grant select, insert (actor, action, subject, reason) on audit.entries to purser_live;
