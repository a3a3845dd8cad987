-- Tokens of the control plane for automated tests: one reads and resets the test users of one app and opens nothing else (SB-07). Kept
-- until it is revoked; it works while the account that made it owns the app.

create table accounts.test_tokens (
  token_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  account_id text collate "C" not null references accounts.accounts, -- The owner who made it, for whom it acts.
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index test_tokens_app on accounts.test_tokens (app_id, created_at);
grant select, insert, update, delete on accounts.test_tokens to purser_live;
