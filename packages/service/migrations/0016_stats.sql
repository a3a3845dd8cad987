-- Sums of calls by hour. Every chart and total of the console reads them, so that no page reads the calls.

create schema stats;
grant usage on schema stats to purser_live;

-- Live calls that were charged are added from their receipts, exactly (stats/roll_up.sql). Everything else is counted by
-- the processes in memory and added here every second.
create table stats.hours (
  app_id text collate "C" not null,
  mode text not null check (mode in ('live', 'sandbox')),
  hour timestamptz not null, -- In which the calls ended, in UTC. In old days all sums are in the day's first hour.
  model text collate "C" not null, -- The resolved identifier. '' if the call was refused before it was known.
  outcome text collate "C" not null, -- charged, free, abandoned, replayed, or the code of a refusal or fault.
  calls bigint not null default 0 check (calls >= 0),
  charged_micros bigint not null default 0 check (charged_micros >= 0), -- Play money in the sandbox.
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  -- How many answers took how long: one count for each bucket of stats/latency.ts. Null if nothing was answered.
  first_byte bigint[] check (cardinality(first_byte) = 16),
  total bigint[] check (cardinality(total) = 16),
  cost_micros bigint default 0 check (cost_micros >= 0), -- What providers charged for them.
  primary key (app_id, mode, hour, model, outcome)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- For sums of all apps, and for merging old hours.
create index hours_hour on stats.hours (hour);

-- The same calls by API key, all counted in memory: a receipt does not name its key.
create table stats.keys (
  app_id text collate "C" not null,
  mode text not null check (mode in ('live', 'sandbox')),
  hour timestamptz not null,
  key_id text collate "C" not null,
  calls bigint not null default 0,
  charged_calls bigint not null default 0,
  charged_micros bigint not null default 0,
  primary key (app_id, mode, hour, key_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index keys_hour on stats.keys (hour);

-- Up to which of its entries each wallet is in the sums. A wallet's entries are numbered under its lock, so no entry with a
-- lower number commits later.
create table stats.watermarks (
  wallet_id bigint primary key,
  entry_seq bigint not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table stats.passes (
  is_only boolean primary key default true check (is_only), -- One row.
  due_at timestamptz not null default '1970-01-01 00:00:00+00', -- The next one.
  ended_at timestamptz not null default '1970-01-01 00:00:00+00',
  merged_until timestamptz not null default '1970-01-01 00:00:00+00', -- All hours before are merged into their days.
  -- Receipts of calls before this one are in the sums: later passes need not look for more there.
  from_call uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into stats.passes default values;

-- What a rebuild has read so far. Empty at any other time; a rebuild that was killed leaves rows for the next one to delete.
create unlogged table stats.rebuilt (
  app_id text collate "C" not null,
  mode text not null,
  hour timestamptz not null,
  model text collate "C" not null,
  outcome text collate "C" not null,
  calls bigint not null,
  charged_micros bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_micros bigint default 0,
  primary key (hour, app_id, mode, model, outcome)
);

grant select, insert, update, delete on stats.hours, stats.keys to purser_live;
grant select on stats.watermarks, stats.passes to purser_live;
