-- Makes two tables with one row each. Locks nothing.

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

-- The key of the ids of events: an id comes from the numbers of a wallet and its change, and tells neither. It stays with
-- the database, so a repeated change gives the same id on every gateway and after a restore. Only webhooks.event_id reads it.
create table webhooks.event_key (
  is_only boolean primary key default true check (is_only), -- One row.
  key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) check (length(key) = 32)
);
insert into webhooks.event_key default values;
