-- Token buckets: one for each app, over all its keys, both modes and every process (LI-01), and one for each kind of try
-- that is limited (signing in, registering). Nobody but the functions of src/limits reads or writes them.

create schema limits;
grant usage on schema limits to purser_live;

-- A token is 60,000,000 units: at one token a minute the bucket then gains one unit a microsecond, and every sum is whole.
create table limits.buckets (
  app_id text collate "C" primary key, -- Of an app; a bucket of tries has a name with a colon.
  units bigint not null check (units >= 0),
  refilled_at_us bigint not null,
  leases_until_us bigint not null default 0 -- When the last lease of its tokens ends. Before that, token_leases is read too.
) with (fillfactor = 50); -- Room for updates in their page: every row changes all the time.

-- Tokens that a process has leased, so that it can admit calls to come without a statement for each. Of a process that
-- dies nobody knows how many it spent: after `until_us` they all count as spent.
create table limits.token_leases (
  app_id text collate "C" not null,
  holder uuid not null, -- The process.
  tokens int not null check (tokens > 0),
  until_us bigint not null,
  primary key (app_id, holder)
);

-- Gateways of other cells that take tokens of buckets here (decision 29).
create table limits.askers (
  holder uuid primary key, -- The process, as in token_leases.
  request bigint not null, -- The number of its latest request. The same number again, or a lower one, is refused.
  asked_at timestamptz not null
);
