-- Tokens that open the event feed of one app and nothing else, for `purser listen` (decision 0062). A token ends with the
-- session that made it: when its holder signs out, changes the password or loses the account, it is gone.
create table accounts.listen_tokens (
  token_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  session_id text collate "C" not null references accounts.sessions on delete cascade,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token.
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > created_at),
  last_used_at timestamptz
);
create index listen_tokens_app on accounts.listen_tokens (app_id, created_at);
create index listen_tokens_session on accounts.listen_tokens (session_id);
create index listen_tokens_expiry on accounts.listen_tokens (expires_at);

grant select, insert, update, delete on accounts.listen_tokens to purser_live;
