-- What operators and owners did.

create schema audit;
grant usage on schema audit to purser_live;

-- The trail. A line is written in the transaction of the act. Nobody changes or removes one: see refuse_change.
create table audit.entries (
  entry_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text collate "C" not null, -- The account, `command-line` or `settings`.
  action text collate "C" not null,
  subject text collate "C" not null,
  reason text,
  actor_name text check (length(actor_name) <= 320), -- The name of the actor at that time (CP-09).
  account_id text collate "C", -- The owner who acted. Null for acts of operators, which owners do not read.
  app_id text collate "C", -- The owner's app that it was done to.
  amount_micros bigint,
  before jsonb, -- The state before and after.
  after jsonb
);
create index entries_of_account on audit.entries (account_id, entry_id) where account_id is not null;
-- What the members of an app did with it, newest first.
create index entries_of_app on audit.entries (app_id, entry_id) where app_id is not null and account_id is not null;
-- The acts of one kind on an app, newest first. `entries_of_app` has all of an app; a rare kind would be searched for in all of them.
create index entries_of_app_action on audit.entries (app_id, action, entry_id) where app_id is not null and account_id is not null;
-- For the filters of the trail. Acts are rare: an entry costs a few more index rows.
create index entries_at on audit.entries (at);
create index entries_of_actor on audit.entries (actor, entry_id);
create index entries_of_actor_name on audit.entries (actor_name, entry_id) where actor_name is not null;
create index entries_of_action on audit.entries (action, entry_id);
create index entries_about on audit.entries (subject, entry_id);
create index entries_with_amount on audit.entries (entry_id) where amount_micros is not null;

-- The trail as a chain of hashes (decision 71). Each entry gets a link within seconds of its commit. A link has the hash of
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
  is_only boolean primary key default true check (is_only), -- One row.
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

-- From where an act came. Apart from the entries, which are never removed: addresses are personal and are kept for 90 days.
create table audit.addresses (
  entry_id bigint primary key,
  address text not null check (length(address) between 1 and 64),
  at timestamptz not null default clock_timestamp()
);
create index addresses_at on audit.addresses (at);

-- Sign-ins, and attempts that failed, counted by minute: a flood of attempts is one row a minute. Kept for 90 days.
create table audit.sign_ins (
  sign_in_id bigint generated always as identity unique,
  minute timestamptz not null,
  who text collate "C" not null, -- An account or an identity. Empty: unknown, or beyond the rows of this minute.
  result text collate "C" not null
    check (result in ('signed_in', 'wrong_password', 'too_many_attempts', 'password_reset', 'wrong_code', 'refused_passkey',
      'needs_second_factor', 'wrong_second_factor', 'refused_sso')),
  address text not null check (length(address) <= 64),
  count int not null default 1 check (count >= 1),
  primary key (minute, who, result, address)
);
create index sign_ins_of on audit.sign_ins (who, sign_in_id);

-- The number and the time of a line, a link or an address are the database's to say.
grant select, insert (actor, action, subject, reason, actor_name, account_id, app_id, amount_micros, before, after) on audit.entries
  to purser_live;
grant select, insert (link_no, entry_id, previous, hash) on audit.links to purser_live;
grant select, update (link_no, hash, settled_entry, seen_entry, seen_xid, seen_ms, seal) on audit.head to purser_live;
grant select, insert (entry_id, address), delete on audit.addresses to purser_live;
grant select, insert, update (count), delete on audit.sign_ins to purser_live;
