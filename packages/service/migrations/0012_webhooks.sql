-- Webhooks: who receives which events, the events, and the attempts to deliver them.

create schema webhooks;
grant usage on schema webhooks to purser_live;

-- Numbers subscriptions and their generations.
create sequence webhooks.generations;

-- Who receives an app's events: its one endpoint, and developers' machines that listen for a while. An endpoint's secret
-- is sealed under a key of the service; its fingerprint tells one secret from the next (WH-01). The secret of a listener
-- never leaves its machine.
create table webhooks.subscriptions (
  -- A subscription that was removed or disabled comes back under another number: what waited before is never sent.
  subscription_id bigint primary key default nextval('webhooks.generations'),
  app_id text collate "C" not null,
  listener_id text collate "C", -- Null: the endpoint.
  listening_until timestamptz,
  generation bigint not null default nextval('webhooks.generations'), -- Changes with the endpoint and the secret.
  endpoint_url text,
  events text[] not null
    check (events <> '{}' and events <@ array['balance.low', 'topup.completed', 'connection.created']),
  low_balance_threshold_micros bigint check (low_balance_threshold_micros between 1 and 9007199254740991),
  sealed_secret bytea,
  secret_fingerprint text,
  status text not null default 'active' check (status in ('active', 'disabled')),
  disabled_reason text,
  failures_in_row int not null default 0, -- Attempts that failed since one succeeded.
  exhausted_in_row int not null default 0, -- Events all of whose attempts failed since one succeeded (WH-12).
  drop_told_at timestamptz, -- When the owner was last told that events are dropped (WH-12).
  -- The latest attempt that failed, for the app's home page: attempts have no index by time.
  last_failed_at timestamptz,
  last_failed_status int,
  last_failed_error text,
  unique nulls not distinct (app_id, listener_id),
  check (num_nonnulls(endpoint_url, sealed_secret, secret_fingerprint) = case when listener_id is null then 3 else 0 end),
  check ((listening_until is null) = (listener_id is null)),
  check ((low_balance_threshold_micros is not null) = ('balance.low' = any (events))),
  check ((disabled_reason is not null) = (status = 'disabled'))
);
-- Finds the highest threshold that anybody has in one step, see tell_low_balances.
create index subscriptions_low on webhooks.subscriptions (low_balance_threshold_micros)
  where status = 'active' and low_balance_threshold_micros is not null;

-- The key of the ids of events: an id comes from the numbers of a wallet and its change, and tells neither. It stays with
-- the database, so a repeated change gives the same id on every gateway and after a restore. Only webhooks.event_id reads it.
create table webhooks.event_key (
  is_only boolean primary key default true check (is_only), -- One row.
  key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) check (length(key) = 32)
);
insert into webhooks.event_key default values;

-- What is delivered, once for each change that it tells of: the id comes from the change (WH-04). The body is what is sent,
-- byte for byte. It stays as long as its row, which is 30 days, so that owners can see what was sent, and what they missed (WH-14).
create table webhooks.events (
  event_id text collate "C" primary key,
  app_id text collate "C" not null,
  subscription_id bigint not null,
  type text not null,
  body bytea,
  created_at timestamptz not null,
  state text not null default 'pending' check (state in ('pending', 'sending', 'delivered', 'dropped')),
  attempt smallint not null default 1 check (attempt >= 1), -- The next one, or the one under way.
  due_at timestamptz not null default clock_timestamp(),
  claim uuid, -- The worker's, while it sends.
  claimed_generation bigint, -- Of the subscription, as the worker was given it.
  lease_until timestamptz, -- After this the worker counts as dead, and the event is due again.
  ended_at timestamptz,
  check ((state = 'sending') = (claim is not null)),
  check ((state = 'sending') = (lease_until is not null)),
  constraint events_end check ((state in ('delivered', 'dropped')) = (ended_at is not null)),
  constraint events_body check (body is not null or state in ('delivered', 'dropped'))
) with (fillfactor = 70);
create index events_due on webhooks.events (due_at) where state = 'pending';
-- In the order in which events are claimed, endpoint by endpoint, see claim.
create index events_pending on webhooks.events (subscription_id, attempt desc, due_at, event_id) where state = 'pending';
create index events_pending_app on webhooks.events (app_id) where state = 'pending';
create index events_sending on webhooks.events (subscription_id) where state = 'sending';
create index events_recent on webhooks.events (app_id, created_at desc, event_id desc);
-- Finds the few dropped events of an app among the many that were delivered.
create index events_dropped on webhooks.events (app_id, created_at desc, event_id desc) where state = 'dropped';
create index events_ended on webhooks.events (ended_at) where ended_at is not null;

-- Each attempt to deliver an event. Of the receiver's answer only the status is kept.
create table webhooks.attempts (
  event_id text collate "C" not null references webhooks.events on delete cascade,
  attempt smallint not null,
  at timestamptz not null,
  status int,
  duration_ms int not null,
  error text,
  primary key (event_id, attempt)
);

-- What listeners have yet to fetch. A copy is handed to one look and removed by the next, or with its listener. Copies
-- count for nothing and are never sent again.
create table webhooks.copies (
  subscription_id bigint not null references webhooks.subscriptions on delete cascade,
  copy_id bigint generated always as identity,
  event_id text collate "C" not null,
  type text not null,
  body bytea not null,
  created_at timestamptz not null,
  handed_to uuid, -- The look that was given it.
  primary key (subscription_id, copy_id)
);
create index copies_created on webhooks.copies (created_at);

grant select, insert, update, delete on webhooks.subscriptions to purser_live;
grant usage on sequence webhooks.generations to purser_live;
grant select, update (handed_to), delete on webhooks.copies to purser_live;
grant select on webhooks.events, webhooks.attempts to purser_live;
