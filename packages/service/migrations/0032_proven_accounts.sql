-- Accounts prove their e-mail, and may have a second factor: an authenticator app, passkeys, and recovery codes (CP-06).

-- Null: nobody has shown yet that mail to this address reaches them. Accounts from before count as proven.
alter table accounts.accounts add column email_verified_at timestamptz;
update accounts.accounts set email_verified_at = created_at;

-- When the holder of a session last proved who they are. Acts on the account itself need a proof that is minutes old.
alter table accounts.sessions add column proved_at timestamptz;
update accounts.sessions set proved_at = created_at;
alter table accounts.sessions
  alter column proved_at set default clock_timestamp(),
  alter column proved_at set not null;

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

-- Sign-ins whose password was right, and that wait for the second factor. No session: they open nothing.
create table accounts.pending_sign_ins (
  digest bytea primary key check (length(digest) = 32), -- SHA-256 of the token that the browser or the program got.
  account_id text collate "C" not null references accounts.accounts,
  guesses_left int not null check (guesses_left >= 0),
  expires_at timestamptz not null
);
create index pending_sign_ins_of on accounts.pending_sign_ins (account_id);
create index pending_sign_ins_expired on accounts.pending_sign_ins (expires_at);

grant select, insert, update, delete on accounts.email_verifications, accounts.authenticators, accounts.passkeys,
  accounts.answered_challenges, accounts.recovery_codes, accounts.pending_sign_ins to purser_live;

alter table audit.sign_ins
  drop constraint sign_ins_result_check,
  add constraint sign_ins_result_check check (result in ('signed_in', 'wrong_password', 'too_many_attempts',
    'password_reset', 'wrong_code', 'refused_passkey', 'needs_second_factor', 'wrong_second_factor'));
