-- The people who own wallets. Locks: none that matter, everything is new.

create schema identities;
grant usage on schema identities to purser_live;

-- Somebody who has shown that mail to this address reaches him.
create table identities.identities (
  identity_id text collate "C" primary key,
  email text not null unique check (email = lower(email) and email ~ '^[\x21-\x7e]{1,254}$'),
  created_at timestamptz not null default clock_timestamp()
);

-- One sign-in of a person's browser, by a cookie of which the digest is stored.
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

grant select, insert, update, delete on identities.identities, identities.sessions to purser_live;

-- A one-time code that was mailed, for the browser that asked for it. Neither the code nor what names it in that browser is
-- stored: only a digest of the one, and of the other an HMAC over both.
create table identities.codes (
  digest bytea primary key check (length(digest) = 32),
  email text not null,
  proof bytea not null check (length(proof) = 32),
  guesses_left int not null check (guesses_left >= 0),
  expires_at timestamptz not null
);
create index codes_of on identities.codes (email);
create index codes_expired on identities.codes (expires_at);

grant select, insert, update, delete on identities.codes to purser_live;

-- A passkey by which a person signs in instead of a code. Not a secret: a public key.
create table identities.passkeys (
  credential_id text collate "C" primary key check (length(credential_id) between 1 and 1364), -- As browsers write it.
  identity_id text collate "C" not null references identities.identities,
  public_key bytea not null,
  sign_count bigint not null check (sign_count >= 0),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_of on identities.passkeys (identity_id);

-- Challenges that a passkey has answered, until they would have expired: each is answered once.
create table identities.answered_challenges (
  digest bytea primary key check (length(digest) = 32),
  expires_at timestamptz not null
);
create index answered_challenges_expired on identities.answered_challenges (expires_at);

grant select, insert, update, delete on identities.passkeys, identities.answered_challenges to purser_live;
