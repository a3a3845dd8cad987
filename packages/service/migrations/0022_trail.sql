-- The trail also holds the acts of owners, and for each act its amount, the state before and after, and the name of the
-- actor at that time (CP-09).
alter table audit.entries
  add column actor_name text check (length(actor_name) <= 320),
  add column account_id text collate "C", -- The owner who acted. Null for acts of operators, which owners do not read.
  add column app_id text collate "C", -- The owner's app that it was done to.
  add column amount_micros bigint,
  add column before jsonb,
  add column after jsonb;
create index entries_of_account on audit.entries (account_id, entry_id) where account_id is not null;

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
    check (result in ('signed_in', 'wrong_password', 'too_many_attempts', 'password_reset', 'wrong_code', 'refused_passkey')),
  address text not null check (length(address) <= 64),
  count int not null default 1 check (count >= 1),
  primary key (minute, who, result, address)
);
create index sign_ins_of on audit.sign_ins (who, sign_in_id);

grant insert (actor_name, account_id, app_id, amount_micros, before, after) on audit.entries to purser_live;
grant select, insert (entry_id, address), delete on audit.addresses to purser_live;
grant select, insert, update (count), delete on audit.sign_ins to purser_live;
