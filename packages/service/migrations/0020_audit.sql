-- What operators did. Locks: none that matter, everything is new.

create schema audit;
grant usage on schema audit to purser_live;

-- Written in the transaction of the act, and never changed.
create table audit.entries (
  entry_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text collate "C" not null, -- The account, or `command-line`.
  action text collate "C" not null,
  subject text collate "C" not null,
  reason text
);

grant select, insert on audit.entries to purser_live;
