-- Codes with which operators add the first second factor of their account (decision 0072). An account has at most one.
create table accounts.enrolments (
  account_id text collate "C" primary key references accounts.accounts,
  proof bytea not null check (length(proof) = 32), -- An HMAC of the code.
  expires_at timestamptz not null
);
grant select, insert, update, delete on accounts.enrolments to purser_live;
