-- What operators did.

create schema audit;
grant usage on schema audit to purser_live;

-- The trail. A line is written in the transaction of the act. Nobody changes or removes one: see refuse_change.
create table audit.entries (
  entry_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text collate "C" not null, -- The account, `command-line` or `settings`.
  action text collate "C" not null,
  subject text collate "C" not null,
  reason text
);

-- The number and the time of a line are the database's to say.
grant select, insert (actor, action, subject, reason) on audit.entries to purser_live;
