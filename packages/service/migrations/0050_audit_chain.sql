-- The audit trail as a chain of hashes (decision 0071). Each entry gets a link within seconds of its commit. A link has the hash of
-- the link before it and its own, which covers the whole entry. There is no foreign key: the link of a removed entry must stay.
create table audit.links (
  link_no bigint primary key check (link_no > 0),
  entry_id bigint not null unique,
  previous bytea not null check (length(previous) = 32),
  hash bytea not null check (length(hash) = 32),
  sealed_at timestamptz not null default clock_timestamp()
);

-- Where the chain ends. The seal is an HMAC over the other columns, under a key from PURSER_SECRET: who can write to the database
-- can compute hashes, but no seal.
create table audit.head (
  is_only boolean primary key default true check (is_only),
  link_no bigint not null default 0 check (link_no >= 0),
  hash bytea not null default '\x0000000000000000000000000000000000000000000000000000000000000000' check (length(hash) = 32),
  -- Every entry up to this one has its link, and no running transaction can add another.
  settled_entry bigint not null default 0,
  -- The last entry at the time `seen_ms`, in milliseconds since 1970, and the first transaction that had not begun then.
  seen_entry bigint not null default 0,
  seen_xid bigint not null default 0,
  seen_ms bigint not null default 0,
  seal bytea -- Null until the first link.
);
insert into audit.head default values;

grant select, insert (link_no, entry_id, previous, hash) on audit.links to purser_live;
grant select, update (link_no, hash, settled_entry, seen_entry, seen_xid, seen_ms, seal) on audit.head to purser_live;

-- For the filters of the trail. Acts are rare: an entry costs four more index rows.
create index entries_at on audit.entries (at);
create index entries_of_actor on audit.entries (actor, entry_id);
create index entries_of_actor_name on audit.entries (actor_name, entry_id) where actor_name is not null;
create index entries_of_action on audit.entries (action, entry_id);
create index entries_about on audit.entries (subject, entry_id);
create index entries_with_amount on audit.entries (entry_id) where amount_micros is not null;

-- What the ledger checks found, for 90 days: every full check, and the checks of changes summed by the hour.
create table ledger.checks (
  check_id bigint generated always as identity primary key,
  kind text collate "C" not null check (kind in ('full', 'changes')),
  begun_at timestamptz not null, -- For `changes` the hour.
  ended_at timestamptz not null,
  process text collate "C" not null check (length(process) <= 200), -- The last that ran one.
  passes int not null default 1 check (passes > 0),
  wallets bigint not null,
  longest_ms bigint not null,
  differences bigint not null -- The most that one pass found.
);
create unique index checks_of_hour on ledger.checks (begun_at) where kind = 'changes';
create index checks_ended on ledger.checks (ended_at);
grant select on ledger.checks to purser_live;
