-- Developer accounts, how they sign in, the apps they register, who may see and change those, and the keys of those apps.

create schema accounts;
grant usage on schema accounts to purser_live;

-- Somebody who registers apps, or an operator. Addresses are sealed (decision 74): a plain one is refused here and everywhere below.
create table accounts.accounts (
  account_id text collate "C" primary key,
  email text not null unique constraint accounts_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$'),
  name text,
  role text not null default 'owner' check (role in ('owner', 'operator')),
  password_hash text, -- Null: the account has no password, so it cannot sign in by one.
  -- A disabled account has no session and opens none. Its apps and keys go on: they are suspended by their own switch.
  is_disabled boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  email_verified_at timestamptz, -- Null: nobody has shown yet that mail to this address reaches them (CP-06).
  operator_role text check (operator_role in ('viewer', 'support', 'finance', 'admin')), -- Decision 66. Null for owners.
  -- An operator who signs in through an OpenID Connect provider (decision 66). The provider names a person by issuer and subject, and
  -- neither ever changes. Such an account has no password: the provider alone says who it is.
  sso_issuer text collate "C" check (length(sso_issuer) between 1 and 2048),
  sso_subject text collate "C" check (length(sso_subject) between 1 and 255),
  -- When another operator last made this account an operator, gave it another role, enabled it or removed its second factor. For 24
  -- hours it is no second person (decision 72). Null: nobody did, or the person who owns the machine.
  appointed_at timestamptz,
  appointed_by text collate "C", -- The operator who did that. What the account moves within 24 hours also counts for their day.
  constraint accounts_operator_role_of_operators check (operator_role is null or role = 'operator'),
  constraint accounts_sso_whole check ((sso_issuer is null) = (sso_subject is null)),
  constraint accounts_sso_without_password check (sso_subject is null or password_hash is null)
);
create unique index accounts_sso on accounts.accounts (sso_issuer, sso_subject) where sso_subject is not null;
-- Operators are few among the accounts, and are looked for by each look at the overview.
create index accounts_operators on accounts.accounts (account_id) where role = 'operator';

-- One sign-in of an account. Of its token only the SHA-256 is stored.
create table accounts.sessions (
  session_id text collate "C" primary key,
  account_id text collate "C" not null references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > created_at),
  last_used_at timestamptz not null default clock_timestamp(),
  -- When its holder last proved who they are. Acts on the account itself need a proof that is minutes old.
  proved_at timestamptz not null default clock_timestamp()
);
create index sessions_account on accounts.sessions (account_id);
create index sessions_expiry on accounts.sessions (expires_at);

-- The newest password reset that an account asked for. Asking again makes the one before void.
create table accounts.password_resets (
  account_id text collate "C" primary key references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token in the mail.
  expires_at timestamptz not null
);

-- The newest mail by which an account proves its e-mail. Asking again makes the one before void.
create table accounts.email_verifications (
  account_id text collate "C" primary key references accounts.accounts,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token in the mail.
  expires_at timestamptz not null
);

-- The app on a phone that shows a code every 30 seconds (RFC 6238). An account has at most one.
create table accounts.authenticators (
  account_id text collate "C" primary key references accounts.accounts,
  secret bytea not null, -- Sealed: somebody who can read the table can make no code.
  last_step bigint not null, -- The 30 seconds of the newest code that was accepted. No code works twice.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);

-- A passkey of an account. It holds no secret: the key is the public one.
create table accounts.passkeys (
  credential_id text collate "C" primary key check (length(credential_id) between 1 and 1364), -- As browsers write it.
  account_id text collate "C" not null references accounts.accounts,
  public_key bytea not null,
  sign_count bigint not null check (sign_count >= 0), -- As the authenticator counts. A copy of it would fall behind.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_of on accounts.passkeys (account_id);

-- Challenges that a passkey has answered, kept until they expire, so that no answer is accepted twice.
create table accounts.answered_challenges (
  digest bytea primary key check (length(digest) = 32),
  expires_at timestamptz not null
);
create index answered_challenges_expired on accounts.answered_challenges (expires_at);

-- Codes for the day on which the phone is lost. Each works once: using it removes it.
create table accounts.recovery_codes (
  account_id text collate "C" not null references accounts.accounts,
  proof bytea not null check (length(proof) = 32), -- An HMAC over the code. The code is not stored.
  primary key (account_id, proof)
);

-- Codes with which operators add the first second factor of their account (decision 72). An account has at most one.
create table accounts.enrolments (
  account_id text collate "C" primary key references accounts.accounts,
  proof bytea not null check (length(proof) = 32), -- An HMAC of the code.
  expires_at timestamptz not null
);

-- Sign-ins whose password was right, and that wait for the second factor. No session: they open nothing.
create table accounts.pending_sign_ins (
  digest bytea primary key check (length(digest) = 32), -- SHA-256 of the token that the browser or the program got.
  account_id text collate "C" not null references accounts.accounts,
  guesses_left int not null check (guesses_left >= 0),
  expires_at timestamptz not null
);
create index pending_sign_ins_of on accounts.pending_sign_ins (account_id);
create index pending_sign_ins_expired on accounts.pending_sign_ins (expires_at);

-- What calls the gateway on behalf of its end users. The limits are the service's where they are null (LI-01).
create table accounts.apps (
  app_id text collate "C" primary key,
  account_id text collate "C" not null references accounts.accounts, -- Who made it. Who may change it: see accounts.members.
  name text not null,
  redirect_uris text[] not null default '{}',
  status text not null default 'active' check (status in ('active', 'suspended')),
  is_first_party boolean not null default false, -- The operator's own: it may call reserved models (MO-04).
  rate_per_minute int check (rate_per_minute > 0),
  rate_burst int check (rate_burst > 0),
  max_streams_per_user int check (max_streams_per_user > 0),
  generation bigint not null, -- Of its last change, see db.generations.
  created_at timestamptz not null default clock_timestamp(),
  -- Where the pages lead users back to an app, other than at the end of connecting. Null: the first of redirect_uris.
  return_uri text,
  constraint apps_return_uri_is_allowed check (return_uri is null or return_uri = any (redirect_uris))
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

-- Who may see and change an app (decision 55). Nothing else decides that.
create table accounts.members (
  app_id text collate "C" not null references accounts.apps,
  account_id text collate "C" not null references accounts.accounts,
  role text not null check (role in ('viewer', 'developer', 'owner')),
  since timestamptz not null default clock_timestamp(),
  primary key (app_id, account_id)
);
create index members_account on accounts.members (account_id);

-- An invitation that was mailed and not used yet. Inviting an address again replaces the invitation before.
create table accounts.invitations (
  invitation_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  email text not null constraint invitations_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$'),
  role text not null check (role in ('viewer', 'developer', 'owner')),
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token in the mail.
  invited_by text collate "C" not null references accounts.accounts,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > created_at),
  unique (app_id, email)
);
create index invitations_expiry on accounts.invitations (expires_at);

-- Keys by which apps call. What a key is can't change, only whether it is revoked and what its owner may set on it: see
-- refuse_key_change (AU-07). A key that has none of the settings costs a call nothing.
create table accounts.api_keys (
  key_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the whole key, which is never stored (AU-08).
  mode text not null check (mode in ('live', 'sandbox')),
  hint text not null, -- Its last characters, so that its owner can tell it from others.
  generation bigint not null, -- Of its last change, see db.generations.
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  bound_user text collate "C" -- The only end user of calls with this key (CP-08). Null: any. Never changes.
    check (bound_user ~ '^[!-~]+$' and length(bound_user) <= 256),
  join_seconds smallint -- How long after its end a call answers others with the same body (CC-14). Null: it does not.
    check (join_seconds between 1 and 60),
  -- What its owner may set and change later (CP-08).
  name text check (length(name) between 1 and 80),
  expires_at timestamptz, -- From then on it is refused like a revoked key. Null: never.
  models text[] check (cardinality(models) between 1 and 100), -- Ids and aliases that it may call. Null: all.
  addresses text[] check (cardinality(addresses) between 1 and 100), -- Addresses and networks it may come from. Null: all.
  rate_per_minute int check (rate_per_minute between 1 and 1000000), -- Beside the app's limit (LI-01).
  budget_micros bigint check (budget_micros between 1 and 9007199254740991), -- Per calendar month, UTC.
  rolled_from text collate "C" references accounts.api_keys, -- The key that it succeeds. Never changes.
  -- The first key of its line: both count what they call under it. Never changes.
  counts_as text collate "C" references accounts.api_keys,
  -- A key that reads and resets the test users of its app and makes no calls (SB-07, decision 19). Never changes.
  may_reset boolean not null default false,
  constraint resets_play_money_only check (mode = 'sandbox' or not may_reset)
);
create index api_keys_app on accounts.api_keys (app_id);
create index api_keys_generation on accounts.api_keys (generation);
-- A key has one successor.
create unique index api_keys_rolled_from on accounts.api_keys (rolled_from) where rolled_from is not null;

-- Tokens that open the event feed of one app and nothing else, for `purser listen` (decision 20). A token ends with the
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

-- Accounts, apps and keys are never removed: calls and payments name them for good.
grant select, insert, update on accounts.accounts, accounts.apps, accounts.api_keys to purser_live;
grant select, insert, update, delete on accounts.sessions, accounts.password_resets, accounts.email_verifications,
  accounts.authenticators, accounts.passkeys, accounts.answered_challenges, accounts.recovery_codes, accounts.enrolments,
  accounts.pending_sign_ins, accounts.app_logos, accounts.members, accounts.invitations, accounts.listen_tokens to purser_live;
