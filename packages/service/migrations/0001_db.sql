-- Roles, the register of running processes, and the counters by which processes learn of each other's changes.
--
-- The files up to 0020 are version 0.1, one for each schema. A later change is a file of its own with the next number. It holds tables
-- and data only, and says in its head what it locks and for how long. Functions lie beside the TypeScript that owns them, in src/, one
-- file each.

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
-- made it. A build applies what differs from its own files, and leaves alone what a newer version wrote.
create table db.functions (
  name text collate "C" primary key,
  digest bytea not null check (length(digest) = 32),
  version text not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- Which builds can run on this schema (decision 80). A build of an older schema may run on a newer one as long as its own number is at
-- least `oldest_schema`: beside newer gateways during a rolling upgrade, and after going back. A migration that takes something away
-- from older builds, or refuses what they write, sets it to its own number.
create table db.compatibility (
  is_only boolean primary key default true check (is_only), -- One row.
  oldest_schema int not null
);
insert into db.compatibility (oldest_schema) values (20);
grant select on db.compatibility to purser_live;

-- The name that this database keeps through restarts, dumps and moves. A gateway keeps settlements on its disk while the
-- database is away: by this name it knows whose they are.
create table db.identity (
  is_only boolean primary key default true check (is_only), -- One row.
  database_id uuid not null default gen_random_uuid(),
  -- By which a gateway knows that it has the same PURSER_SECRET as all others of this database. The first start writes it.
  -- The secret cannot be derived from it.
  secret_fingerprint bytea check (length(secret_fingerprint) = 16),
  -- How often this database has copied the whole directory again (decision 95): a copy that was wrong may have had the right counters
  -- in db.generations.
  copies integer not null default 0,
  -- Which life of the database this is, as a gateway with a cell found it last (decision 102): a start sees by it whether the database
  -- may have been restored. Null: none has looked.
  incarnation text
);
insert into db.identity default values;
grant select on db.identity to purser_live;

-- Keys that must stay the same when PURSER_SECRET changes (decision 74): pseudonyms, sealed secrets, keyed digests. Each is sealed
-- under every secret that may open this database: one, and two during a change. Only the owner of the schema reads them, at a start.
create table db.kept_keys (
  purpose text collate "C" not null check (length(purpose) between 1 and 100),
  fingerprint bytea not null check (length(fingerprint) = 16), -- Of the secret, as db.identity has it.
  sealed bytea not null,
  primary key (purpose, fingerprint)
);

-- Restores of this database from a backup.
create table db.restores (
  restore_no bigint generated always as identity primary key,
  restored_at timestamptz not null default clock_timestamp(),
  until_at timestamptz, -- The last commit that came back. Null: the log did not say.
  backup text not null check (length(backup) <= 200),
  accepted_at timestamptz -- Null: nobody has said yet that the original is gone. No gateway starts before that.
);
grant select on db.restores to purser_live;

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
  joined_call uuid, -- The earlier call that it waits for already.
  calls_max int, -- Most plain calls that the user may have running, this one included (CC-18); 0 for a stream.
  budget_key text, -- The line of keys whose budget it counts for. Null: the key has no budget.
  budget_micros bigint
);

-- How often each kind of configuration has changed. The counter is raised in the transaction of the change, so changes
-- commit in the order of their generation, and a process that polls this table misses none.
create table db.generations (
  topic text primary key,
  generation bigint not null default 0
);
insert into db.generations (topic) values ('accounts'), ('catalogue'), ('cells');
grant select, update on db.generations to purser_live;

-- What gateways have seen of this server's clock, see db.observe_clock. A step of the clock is not believed at once: if it
-- is taken back, no month has begun because of it.
create table db.clock (
  is_only boolean primary key default true check (is_only), -- One row.
  trusted_at timestamptz not null default clock_timestamp(), -- The time without steps that are not believed yet.
  seen_at timestamptz not null default clock_timestamp(), -- What the clock said when it was last looked at.
  steady_since timestamptz not null default clock_timestamp() -- When it last made a step.
) with (fillfactor = 10); -- One row that changes every few seconds.
insert into db.clock default values;
grant select on db.clock to purser_live;
