-- The members of an app: several accounts, each in a role, and invitations by mail (decision 0055).

-- Who may see and change an app. Nothing else decides that: `apps.account_id` only says who made it.
create table accounts.members (
  app_id text collate "C" not null references accounts.apps,
  account_id text collate "C" not null references accounts.accounts,
  role text not null check (role in ('viewer', 'developer', 'owner')),
  since timestamptz not null default clock_timestamp(),
  primary key (app_id, account_id)
);
create index members_account on accounts.members (account_id);
insert into accounts.members (app_id, account_id, role, since)
  select app_id, account_id, 'owner', created_at from accounts.apps;

-- An invitation that was mailed and not used yet. Inviting an address again replaces the invitation before.
create table accounts.invitations (
  invitation_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  email text not null check (email = lower(email)),
  role text not null check (role in ('viewer', 'developer', 'owner')),
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the token in the mail.
  invited_by text collate "C" not null references accounts.accounts,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > created_at),
  unique (app_id, email)
);
create index invitations_expiry on accounts.invitations (expires_at);

grant select, insert, update, delete on accounts.members, accounts.invitations to purser_live;

-- What the members of an app did with it, newest first.
create index entries_of_app on audit.entries (app_id, entry_id) where app_id is not null and account_id is not null;
