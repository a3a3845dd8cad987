-- Roles, the register of running processes, and the counters by which processes learn of each other's changes.
--
-- One file for each schema. From here on a numbered migration holds tables and data only, and says in its head what it
-- locks and for how long. Functions lie beside the TypeScript that owns them, in src/, one file each.

-- One role for each lane, so that a mistake in one lane's code cannot reach the other's money. Neither owns anything: what
-- a role may do is granted table by table here, and function by function in src/.
do $$
declare
  lane text;
begin
  foreach lane in array array['purser_live', 'purser_sandbox'] loop
    -- Roles belong to the whole server: another Purser database on it may have made them already.
    begin
      execute format('create role %I nologin', lane);
    exception when duplicate_object or unique_violation then
      null;
    end;
    -- The user of DATABASE_URL becomes one of the two for each connection, see src/db/pool.ts.
    begin
      execute format('grant %I to current_user', lane);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
end $$;

-- The schema and db.migrations are made by src/db/migrate.ts, which needs them before it can apply this file.
create schema if not exists db;
grant usage on schema db to purser_live, purser_sandbox;
grant select on db.migrations to purser_live;

-- The functions that this database has: the digest of the text that each was made from, and the version of the build that
-- made it. A build applies what differs from its own files, and refuses a database that a newer version wrote.
create table db.functions (
  name text collate "C" primary key,
  digest bytea not null check (length(digest) = 32),
  version text not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- The name that this database keeps through restarts, dumps and moves. A gateway keeps settlements on its disk while the
-- database is away: by this name it knows whose they are.
create table db.identity (
  is_only boolean primary key default true check (is_only), -- One row.
  database_id uuid not null default gen_random_uuid()
);
insert into db.identity default values;
grant select on db.identity to purser_live;

-- A gateway process that can own holds. It renews its lease every second. The reaper fences a process whose lease has run
-- out: it sets the state to dead, which nobody sets back, and releases its holds (WA-10).
create table db.instances (
  instance_id bigint generated always as identity primary key,
  state text not null default 'live' check (state in ('live', 'dead')),
  lease_until timestamptz not null,
  started_at timestamptz not null default clock_timestamp()
);
grant select, insert, update on db.instances to purser_live;

-- What a call asks of a wallet, live or sandbox, before it reaches a provider. src/db/hold-request.ts writes it.
create type db.hold_request as (
  call_id uuid,
  app_id text,
  user_id text,
  least_micros bigint, -- The smallest hold worth having.
  most_micros bigint, -- The most that the call can cost.
  streams_max int, -- Most streams that the user may have open, this one included; 0 for a call that is no stream.
  key_digest bytea, -- By which a retry would find the call, see idempotency.kept_answers. Null: none could.
  body_digest bytea,
  joins boolean, -- It may be a retry: an earlier call comes before a hold of its own (CC-14).
  joined_call uuid -- The earlier call that it waits for already.
);

-- How often each kind of configuration has changed. The counter is raised in the transaction of the change, so changes
-- commit in the order of their generation, and a process that polls this table misses none.
create table db.generations (
  topic text primary key,
  generation bigint not null default 0
);
insert into db.generations (topic) values ('accounts'), ('catalogue');
grant select, update on db.generations to purser_live;
