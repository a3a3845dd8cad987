-- Roles, the register of running processes, and the counters by which processes learn of each other's changes.
-- Locks: none that matter, everything here is new.

-- One role a lane. Neither owns anything: what they may do is granted below, table by table, function by function.
do $$
declare
  lane text;
begin
  foreach lane in array array['purser_live', 'purser_sandbox'] loop
    begin
      execute format('create role %I nologin', lane);
    exception when duplicate_object or unique_violation then
      null; -- Roles belong to the whole server: another Purser database has made it.
    end;
    begin
      execute format('grant %I to current_user', lane);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
end $$;

create schema if not exists db;
grant usage on schema db to purser_live, purser_sandbox;
grant select on db.migrations to purser_live;

-- A gateway process that can own holds. It renews its lease every second; one whose lease has run out is fenced by its
-- state, which only the reaper sets and nobody sets back, and its holds are released (WA-10).
create table db.instances (
  instance_id bigint generated always as identity primary key,
  state text not null default 'live' check (state in ('live', 'dead')),
  lease_until timestamptz not null,
  started_at timestamptz not null default clock_timestamp()
);
grant select, insert, update on db.instances to purser_live;

-- How often each kind of configuration has changed. Bumped in the transaction of the change, so that changes commit in
-- the order of their generation and a process that polls this table misses none.
create table db.generations (
  topic text primary key,
  generation bigint not null default 0
);
insert into db.generations (topic) values ('accounts'), ('catalogue');
grant select, update on db.generations to purser_live;

-- The UTC calendar month of this moment, as its first day (WA-08).
create function db.current_month() returns date
language sql volatile parallel safe
return date_trunc('month', clock_timestamp() at time zone 'UTC')::date;

-- Whether a hold may be placed, and if not, why: the order of CC-10 from the stream slots on. One rule for real and
-- play money, so that a sandbox call is refused just where a live one is. The smallest hold over the cap with what is
-- spent alone: the cap is reached. Only with other calls' holds: the race for it is lost (WA-03).
create function db.hold_outcome(
  is_connected boolean, is_suspended boolean, available bigint,
  cap bigint, cap_spent bigint, cap_held bigint,
  open_streams int, streams_max int, least_amount bigint
) returns text
language sql immutable parallel safe
return case
  when streams_max > 0 and open_streams >= streams_max then 'stream_limit'
  when not is_connected then 'payment_required'
  when is_suspended then 'wallet_suspended'
  when cap is not null and cap_spent + least_amount > cap then 'cap_reached'
  when cap is not null and cap_spent + cap_held + least_amount > cap then 'cap_race_lost'
  when available < least_amount then 'payment_required'
  else 'granted'
end;
