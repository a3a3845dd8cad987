-- The people who own wallets, and how they sign in with their browsers. Their addresses are sealed (decision 74).

create schema identities;
grant usage on schema identities to purser_live;

-- Somebody who has shown that mail to this address reaches them.
create table identities.identities (
  identity_id text collate "C" primary key,
  email text not null unique constraint identities_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$'),
  created_at timestamptz not null default clock_timestamp()
);

-- One sign-in of a person's browser. Of its cookie only a digest is stored.
create table identities.sessions (
  session_id text collate "C" primary key,
  digest bytea not null unique,
  identity_id text collate "C" not null references identities.identities,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index sessions_of on identities.sessions (identity_id);
create index sessions_expired on identities.sessions (expires_at);

-- A one-time code that was mailed, for the browser that asked for it. Neither the code nor the token that names it in the
-- browser is stored.
create table identities.codes (
  digest bytea primary key check (length(digest) = 32), -- Of the browser's token.
  email text not null constraint codes_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$'),
  proof bytea not null check (length(proof) = 32), -- An HMAC over the token and the code.
  guesses_left int not null check (guesses_left >= 0),
  expires_at timestamptz not null
);
create index codes_of on identities.codes (email);
create index codes_expired on identities.codes (expires_at);

-- A passkey by which a person signs in instead of a code. It holds no secret: the key is the public one.
create table identities.passkeys (
  credential_id text collate "C" primary key check (length(credential_id) between 1 and 1364), -- As browsers write it.
  identity_id text collate "C" not null references identities.identities,
  public_key bytea not null,
  sign_count bigint not null check (sign_count >= 0), -- As the authenticator counts. A copy of it would fall behind.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_of on identities.passkeys (identity_id);

-- Challenges that a passkey has answered, kept until they expire, so that no answer is accepted twice.
create table identities.answered_challenges (
  digest bytea primary key check (length(digest) = 32),
  expires_at timestamptz not null
);
create index answered_challenges_expired on identities.answered_challenges (expires_at);

-- Which addresses a person was moved between (WA-15). The audit trail keeps its lines for good, so it does not name them; these rows go with
-- the person.
create table identities.moves (
  move_id bigint generated always as identity primary key,
  identity_id text collate "C" not null references identities.identities,
  before text not null,
  after text not null,
  at timestamptz not null default clock_timestamp(),
  constraint moves_sealed check (before ~ '^e1[.][A-Za-z0-9_-]+$' and after ~ '^e1[.][A-Za-z0-9_-]+$')
);
create index moves_of on identities.moves (identity_id);

grant select, insert, update, delete on identities.identities, identities.sessions, identities.codes, identities.passkeys,
  identities.answered_challenges to purser_live;
grant select, insert (identity_id, before, after), delete on identities.moves to purser_live;
