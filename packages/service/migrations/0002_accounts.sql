-- Developer accounts, how they sign in, the apps they register and the keys of those apps.

create schema accounts;
grant usage on schema accounts to purser_live;

-- Somebody who registers apps. An operator is an account with another role.
create table accounts.accounts (
  account_id text collate "C" primary key,
  email text not null unique check (email = lower(email)),
  name text,
  role text not null default 'owner' check (role in ('owner', 'operator')),
  password_hash text, -- Null: the account cannot sign in.
  -- A disabled account has no session and opens none. Its apps and keys go on: they are suspended by their own switch.
  is_disabled boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);

-- One sign-in of an account. Of its token only the SHA-256 is stored.
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

-- The newest password reset that an account asked for. Asking again makes the one before void.
create table accounts.password_resets (
  account_id text collate "C" primary key references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token in the mail.
  expires_at timestamptz not null
);

-- What calls the gateway on behalf of its end users. The limits are the service's where they are null (LI-01).
create table accounts.apps (
  app_id text collate "C" primary key,
  account_id text collate "C" not null references accounts.accounts,
  name text not null,
  redirect_uris text[] not null default '{}',
  status text not null default 'active' check (status in ('active', 'suspended')),
  is_first_party boolean not null default false, -- The operator's own: it may call reserved models (MO-04).
  rate_per_minute int check (rate_per_minute > 0),
  rate_burst int check (rate_burst > 0),
  max_streams_per_user int check (max_streams_per_user > 0),
  generation bigint not null, -- Of its last change, see db.generations.
  created_at timestamptz not null default clock_timestamp()
);
create index apps_account on accounts.apps (account_id);
create index apps_generation on accounts.apps (generation);

-- The picture of an app, which users see where they consent and pay.
create table accounts.app_logos (
  app_id text collate "C" primary key references accounts.apps,
  digest bytea not null check (digest = sha256(image)), -- Part of its address, so that browsers may keep it for good.
  type text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  image bytea not null check (length(image) between 1 and 16384)
);
create index app_logos_digest on accounts.app_logos (digest); -- Not unique: two apps may use the same picture.

-- Keys by which apps call. What a key is can't change, only whether it is revoked: see refuse_key_change (AU-07).
create table accounts.api_keys (
  key_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the whole key, which is never stored (AU-08).
  mode text not null check (mode in ('live', 'sandbox')),
  hint text not null, -- Its last characters, so that its owner can tell it from others.
  generation bigint not null, -- Of its last change, see db.generations.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_app on accounts.api_keys (app_id);
create index api_keys_generation on accounts.api_keys (generation);

-- Accounts, apps and keys are never removed: calls and payments name them for good.
grant select, insert, update on accounts.accounts, accounts.apps, accounts.api_keys to purser_live;
grant select, insert, update, delete on accounts.sessions, accounts.password_resets, accounts.app_logos to purser_live;
