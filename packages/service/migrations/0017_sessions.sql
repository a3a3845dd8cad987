-- Sessions of accounts, password resets, and when a key was last used. Locks: a short one on accounts.api_keys.

-- A signed-in account. The token itself is never stored, only its SHA-256.
create table accounts.sessions (
  session_id text collate "C" primary key,
  account_id text collate "C" not null references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > created_at),
  last_used_at timestamptz not null default clock_timestamp()
);
create index sessions_account on accounts.sessions (account_id);
create index sessions_expiry on accounts.sessions (expires_at);

-- The newest reset that an account asked for: an older one is void.
create table accounts.password_resets (
  account_id text collate "C" primary key references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32),
  expires_at timestamptz not null
);

alter table accounts.api_keys add column last_used_at timestamptz;

grant select, insert, update, delete on accounts.sessions, accounts.password_resets to purser_live;
