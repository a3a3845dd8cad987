-- Developer accounts, the apps they register and the keys of those apps. Locks: none that matter, everything is new.

create schema accounts;
grant usage on schema accounts to purser_live;

create table accounts.accounts (
  account_id text collate "C" primary key,
  email text not null unique check (email = lower(email)),
  name text,
  role text not null default 'owner' check (role in ('owner', 'operator')),
  password_hash text, -- Absent: the account cannot sign in.
  created_at timestamptz not null default clock_timestamp()
);

create table accounts.apps (
  app_id text collate "C" primary key,
  account_id text collate "C" not null references accounts.accounts,
  name text not null,
  redirect_uris text[] not null default '{}',
  status text not null default 'active' check (status in ('active', 'suspended')),
  is_first_party boolean not null default false, -- The operator's own: may call reserved models (MO-04).
  rate_per_minute int check (rate_per_minute > 0), -- Absent: the service's default (LI-01), and likewise below.
  rate_burst int check (rate_burst > 0),
  max_streams_per_user int check (max_streams_per_user > 0),
  generation bigint not null, -- Of its last change, see db.generations.
  created_at timestamptz not null default clock_timestamp()
);
create index apps_account on accounts.apps (account_id);
create index apps_generation on accounts.apps (generation);

create table accounts.api_keys (
  key_id text collate "C" primary key,
  app_id text collate "C" not null references accounts.apps,
  digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the whole key: the key itself is never stored (AU-08).
  mode text not null check (mode in ('live', 'sandbox')),
  hint text not null,
  generation bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
create index api_keys_app on accounts.api_keys (app_id);
create index api_keys_generation on accounts.api_keys (generation);

-- A key's mode, its app and its digest are fixed when it is made (AU-07).
create function accounts.refuse_key_change() returns trigger language plpgsql as $$
begin
  if (new.key_id, new.app_id, new.digest, new.mode) is distinct from (old.key_id, old.app_id, old.digest, old.mode) then
    raise exception 'an API key cannot be changed, only revoked';
  end if;
  return new;
end $$;
create trigger api_keys_fixed before update on accounts.api_keys
  for each row execute function accounts.refuse_key_change();

grant select, insert, update on all tables in schema accounts to purser_live;
