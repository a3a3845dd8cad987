-- Reports of a payment processor that were compared with our books and found clean.

create schema reconciliation;
grant usage on schema reconciliation to purser_live;

create table reconciliation.reports (
  report_seq bigint generated always as identity primary key,
  report_id text collate "C" not null unique,
  processor text not null,
  from_day date not null, -- In UTC. `to_day` is the day after the last.
  to_day date not null,
  source text not null check (source in ('file', 'processor')),
  digest bytea not null, -- SHA-256 of the file; of the rows as they were read from the processor.
  lines int not null check (lines >= 0),
  days_apart int not null check (days_apart >= 0), -- Movements that were booked here on another day than there.
  sums jsonb not null,
  filed_by text collate "C" not null, -- An account, or command-line.
  filed_by_name text,
  filed_at timestamptz not null default clock_timestamp(),
  check (from_day < to_day),
  unique (processor, digest, from_day, to_day)
);

-- Each movement of the processor that a filed report has, so that none is filed twice, and one that the processor counted in
-- an earlier period than we did is not missed in ours.
create table reconciliation.items (
  processor text not null,
  transaction text collate "C" not null, -- The processor's id of the movement.
  subject text collate "C" not null, -- What it is about: `payment`, `refund` or `movement`, and the processor's id of that.
  report_seq bigint not null references reconciliation.reports,
  primary key (processor, transaction)
);
create index items_by_subject on reconciliation.items (processor, subject);

grant select, insert on reconciliation.reports, reconciliation.items to purser_live;
