-- Webhooks: who is told of what, the events, and the attempts to deliver them. Locks: ledger.wallets, for as long as a column
-- without a value and an empty trigger take.

create schema webhooks;
grant usage on schema webhooks to purser_live;

create sequence webhooks.generations;

-- Who is told of the events of an app: its one endpoint, and for minutes or hours the developers' machines that listen, each
-- for as long as it goes on looking. An endpoint's secret is sealed under a key of the service; its fingerprint tells one from
-- the next (WH-01). A listener's never leaves its machine.
create table webhooks.subscriptions (
  -- Another one for a subscription that was removed or disabled and came back: what waited for the one before is never sent.
  subscription_id bigint primary key default nextval('webhooks.generations'),
  app_id text collate "C" not null,
  listener_id text collate "C", -- Null: the endpoint.
  listening_until timestamptz,
  generation bigint not null default nextval('webhooks.generations'), -- Another endpoint or secret has another one.
  endpoint_url text,
  events text[] not null
    check (events <> '{}' and events <@ array['balance.low', 'topup.completed', 'connection.created']),
  low_balance_threshold_micros bigint check (low_balance_threshold_micros between 1 and 9007199254740991),
  sealed_secret bytea,
  secret_fingerprint text,
  status text not null default 'active' check (status in ('active', 'disabled')),
  disabled_reason text,
  failures_in_row int not null default 0, -- Attempts that failed since one succeeded.
  exhausted_in_row int not null default 0, -- Events whose six attempts failed since one succeeded (WH-12).
  unique nulls not distinct (app_id, listener_id),
  check (num_nonnulls(endpoint_url, sealed_secret, secret_fingerprint) = case when listener_id is null then 3 else 0 end),
  check ((listening_until is null) = (listener_id is null)),
  check ((low_balance_threshold_micros is not null) = ('balance.low' = any (events))),
  check ((disabled_reason is not null) = (status = 'disabled'))
);

-- What is delivered, once for each change that it tells of: the id comes from the change. The body is what is sent, byte for
-- byte, and is cleared when the event has ended; the row stays for 30 days.
create table webhooks.events (
  event_id text collate "C" primary key,
  app_id text collate "C" not null,
  subscription_id bigint not null,
  type text not null,
  body bytea,
  created_at timestamptz not null,
  state text not null default 'pending' check (state in ('pending', 'sending', 'delivered', 'dropped')),
  attempt smallint not null default 1 check (attempt between 1 and 6), -- The next one, or the one under way.
  due_at timestamptz not null default clock_timestamp(),
  claim uuid,
  claimed_generation bigint, -- Of the subscription that the attempt under way was given.
  lease_until timestamptz,
  ended_at timestamptz,
  check ((state = 'sending') = (claim is not null)),
  check ((state = 'sending') = (lease_until is not null)),
  check ((state in ('delivered', 'dropped')) = (body is null)),
  check ((state in ('delivered', 'dropped')) = (ended_at is not null))
) with (fillfactor = 70);
create index events_due on webhooks.events (due_at) where state = 'pending';
create index events_pending on webhooks.events (subscription_id, attempt desc, due_at, event_id) where state = 'pending';
create index events_pending_app on webhooks.events (app_id) where state = 'pending';
create index events_sending on webhooks.events (subscription_id) where state = 'sending';
create index events_recent on webhooks.events (app_id, created_at desc, event_id desc);
create index events_ended on webhooks.events (ended_at) where ended_at is not null;

-- Nothing of a receiver's answer but its status is kept.
create table webhooks.attempts (
  event_id text collate "C" not null references webhooks.events on delete cascade,
  attempt smallint not null,
  at timestamptz not null,
  status int,
  duration_ms int not null,
  error text,
  primary key (event_id, attempt)
);

-- What listeners have yet to fetch: removed by the look after the one that it was handed to, and with its listener. Nothing
-- counts here, and nothing is tried again.
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
grant select, update (handed_to), delete on webhooks.copies to purser_live;
grant select on webhooks.events, webhooks.attempts to purser_live;
grant usage on sequence webhooks.generations to purser_live;

-- The name of an event: of its type and of the one change that it tells of, whatever is repeated (WH-04).
create function webhooks.event_id(p_type text, p_cause text) returns text
language sql immutable parallel safe
return 'evt_' || left(encode(sha256(convert_to(p_type || ':' || p_cause, 'UTF8')), 'hex'), 32);

-- ISO 8601, UTC, to the millisecond.
create function webhooks.instant(p_at timestamptz) returns text
language sql immutable parallel safe
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The bytes of an event. `p_data`: the text of a JSON object.
create function webhooks.body(p_id text, p_type text, p_at timestamptz, p_app text, p_data text) returns bytea
language sql immutable parallel safe
return convert_to(format('{"id":%s,"type":%s,"createdAt":%s,"appId":%s,"data":%s}', to_json(p_id), to_json(p_type),
  to_json(webhooks.instant(p_at)), to_json(p_app), p_data), 'UTF8');

-- Stores an event where the app's endpoint is to be told of its type, and a copy for each listener; in the transaction of the
-- change, so that it is told of if and only if it happened (WH-03, WH-13). A subscription that is just being removed is told
-- nothing, and fails nothing.
create function webhooks.tell(p_app text, p_type text, p_cause text, p_data text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  at constant timestamptz := clock_timestamp();
  id constant text := webhooks.event_id(p_type, p_cause);
begin
  with told as (
    select s.subscription_id, s.listener_id, webhooks.body(id, p_type, at, p_app, p_data) as body
    from webhooks.subscriptions s
    where s.app_id = p_app and s.status = 'active' and p_type = any (s.events)
      and (s.listening_until is null or s.listening_until > at)
    for key share skip locked
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select t.subscription_id, id, p_type, t.body, at from told t where t.listener_id is not null
  )
  insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
  select id, p_app, t.subscription_id, p_type, t.body, at from told t where t.listener_id is null
  on conflict do nothing;
end $$;

-- What can be spent of a wallet.
create function webhooks.spendable(p_balance bigint, p_held bigint) returns bigint
language sql immutable parallel safe
return greatest(0, p_balance - p_held);

-- Whatever changes a wallet: when what can be spent falls below the threshold, by a hold or otherwise, its app is told, once a
-- crossing (WH-05). A statement changes a wallet once, and only ever one way, so that no crossing hides between two.
create function webhooks.tell_low_balances() returns trigger
language plpgsql security definer set search_path = pg_catalog set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  with crossed as (
    select webhooks.event_id('balance.low', c.wallet_id || ':' || c.version) as event_id, c.app_id, s.subscription_id,
      s.listener_id, c.user_id, c.currency, webhooks.spendable(c.balance_micros, c.held_micros) as available,
      s.low_balance_threshold_micros as threshold, clock_timestamp() as at
    from changed c
    join before b on b.wallet_id = c.wallet_id
    join webhooks.subscriptions s on s.app_id = c.app_id
    where s.status = 'active' and (s.listening_until is null or s.listening_until > clock_timestamp())
      and webhooks.spendable(b.balance_micros, b.held_micros) >= s.low_balance_threshold_micros
      and webhooks.spendable(c.balance_micros, c.held_micros) < s.low_balance_threshold_micros
    for key share of s skip locked
  ), told as (
    select l.*, webhooks.body(l.event_id, 'balance.low', l.at, l.app_id,
      format('{"userId":%s,"availableMicros":%s,"thresholdMicros":%s,"currency":%s}', to_json(l.user_id), l.available,
        l.threshold, to_json(l.currency))) as body
    from crossed l
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select t.subscription_id, t.event_id, 'balance.low', t.body, t.at from told t where t.listener_id is not null
  )
  insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
  select t.event_id, t.app_id, t.subscription_id, 'balance.low', t.body, t.at from told t where t.listener_id is null
  on conflict do nothing;
  return null;
end $$;

create trigger wallets_low after update on ledger.wallets
  referencing old table as before new table as changed
  for each statement execute function webhooks.tell_low_balances();

-- When its user first connected it: an app is told of that one alone (WH-07).
alter table ledger.wallets add column first_connected_at timestamptz;

-- Connects or disconnects a user: a suspension is another fact and stays (WA-11). False where there is no wallet.
create or replace function ledger.set_connected(p_app text, p_user text, p_connected boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  at constant timestamptz := clock_timestamp();
begin
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return false;
  end if;
  update ledger.wallets w set is_connected = p_connected, version = w.version + 1,
    first_connected_at = case when p_connected then coalesce(w.first_connected_at, at) else w.first_connected_at end
  where w.wallet_id = wallet.wallet_id;
  if p_connected and wallet.first_connected_at is null then
    perform webhooks.tell(p_app, 'connection.created', wallet.wallet_id::text,
      format('{"userId":%s,"connectedAt":%s}', to_json(p_user), to_json(webhooks.instant(at))));
  end if;
  return true;
end $$;

-- Books money that came in: 'top_up' by a payment, 'contract_credit' by contract, 'funds_reinstated' by a dispute that
-- was won. Answers 'booked'; 'repeated' where the key is known, with the same amount, and 'conflict' with another;
-- 'too_much' where the balance would pass 2^53 - 1; 'no_wallet'. Lifts no suspension (WA-04). A payment is told of (WH-06).
create or replace function ledger.credit(p_app text, p_user text, p_kind text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  wallet ledger.wallets;
  entry_cause text;
  before text;
begin
  perform ledger.refuse_amount(p_amount);
  if ledger.credit_of(kind) <> 'wallet' then
    raise exception '% is no credit', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, kind, p_key);
  before := ledger.booked_before(entry_cause, array[kind], p_amount);
  if before is not null then
    return before;
  end if;
  if p_amount > 9007199254740991 - wallet.balance_micros then
    return 'too_much';
  end if;
  perform ledger.move(wallet.wallet_id, kind, entry_cause, p_amount);
  if kind = 'top_up' then
    perform webhooks.tell(p_app, 'topup.completed', entry_cause, format(
      '{"userId":%s,"balanceMicros":%s,"availableMicros":%s,"currency":%s}', to_json(p_user),
      wallet.balance_micros + p_amount, webhooks.spendable(wallet.balance_micros + p_amount, wallet.held_micros),
      to_json(wallet.currency)));
  end if;
  return 'booked';
end $$;

-- Takes up to `p_most` events that are due, and fair: endpoints whose last attempt failed come last, one that has nothing
-- under way before one that has, and the last `p_reserved` places are for the first attempt of an endpoint that does not
-- fail, so that those that stall cannot have them all. At most 16 under way for an endpoint, 2 while its last attempt failed
-- (WH-11). Of one endpoint those come first that were tried most often: they end, however many new ones wait behind them.
-- What a worker that died had under way is due again, as the same attempt: only a recorded outcome uses one up.
create function webhooks.claim(p_claim uuid, p_most int, p_reserved int, p_lease_ms int) returns table (
  event_id text, app_id text, type text, body bytea, attempt smallint, endpoint_url text, sealed_secret bytea, generation bigint
)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp(); -- One moment, which an index can be asked for.
begin
  update webhooks.events e set state = 'pending', claim = null, lease_until = null
  where e.event_id in (
    select o.event_id from webhooks.events o where o.state = 'sending' and o.lease_until < at
    for update skip locked
  );
  if not exists (select from webhooks.events e where e.state = 'pending' and e.due_at <= at) then
    return;
  end if;
  return query
  with due as (
    select x.event_id, x.place, s.failures_in_row > 0 as is_failing,
      row_number() over (order by s.failures_in_row > 0, x.place, x.due_at) as turn
    from webhooks.subscriptions s
    cross join lateral (
      select count(*) as number from webhooks.events e where e.subscription_id = s.subscription_id and e.state = 'sending'
    ) sending
    cross join lateral (
      select e.event_id, e.due_at,
        sending.number + row_number() over (order by e.attempt desc, e.due_at, e.event_id) as place
      from webhooks.events e
      where e.subscription_id = s.subscription_id and e.state = 'pending' and e.due_at <= at and e.type = any (s.events)
      order by e.attempt desc, e.due_at, e.event_id
      limit greatest(0, case when s.failures_in_row > 0 then 2 else 16 end - sending.number)
    ) x
    where s.status = 'active'
  ), chosen as (
    select e.event_id from webhooks.events e join due d on d.event_id = e.event_id
    where e.state = 'pending' and d.turn <= p_most
      and ((d.place = 1 and not d.is_failing) or d.turn <= p_most - p_reserved)
    for update of e skip locked
  )
  update webhooks.events e set state = 'sending', claim = p_claim, claimed_generation = s.generation,
    lease_until = at + p_lease_ms * interval '1 ms'
  from chosen c, webhooks.subscriptions s
  where e.event_id = c.event_id and s.subscription_id = e.subscription_id
  returning e.event_id, e.app_id, e.type, e.body, e.attempt, s.endpoint_url, s.sealed_secret, s.generation;
end $$;

-- Of the attempts that a worker has under way, those whose endpoint or secret is not what it was when they began.
create function webhooks.outdated(p_events text[]) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select e.event_id from webhooks.events e
  left join webhooks.subscriptions s on s.app_id = e.app_id and s.subscription_id = e.subscription_id
  where e.event_id = any (p_events) and (s.generation is distinct from e.claimed_generation or s.status <> 'active');
$$;

-- Ends an attempt, once. `p_is_over` false: it was given up and counts for nothing; with a reason, it is due in 10 s. A success ends the event; a failure makes
-- it due again, 10 s later and twice as long each time, counted from here; the sixth drops it, and the fifth event in a row
-- that is dropped so disables the subscription: 'disabled' (WH-11, WH-12). Without a subscription nothing is due again.
create function webhooks.record(
  p_event text, p_claim uuid, p_is_over boolean, p_at timestamptz, p_status int, p_duration_ms int, p_error text
) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  event webhooks.events;
  subscription webhooks.subscriptions;
  is_delivered constant boolean := p_is_over and coalesce(p_status between 200 and 299, false);
  is_dropped boolean;
begin
  -- Everything locks a subscription before its events.
  select s.* into subscription from webhooks.events e join webhooks.subscriptions s on s.subscription_id = e.subscription_id
  where e.event_id = p_event for no key update of s;
  select * into event from webhooks.events e where e.event_id = p_event and e.claim = p_claim for no key update;
  if event.event_id is null then
    return 'not_ours';
  end if;
  if p_is_over then
    insert into webhooks.attempts (event_id, attempt, at, status, duration_ms, error)
    values (p_event, event.attempt, p_at, p_status, p_duration_ms, p_error);
  end if;
  is_dropped := not is_delivered
    and (subscription.status is distinct from 'active' or (p_is_over and event.attempt = 6));
  update webhooks.events e set
    state = case when is_delivered then 'delivered' when is_dropped then 'dropped' else 'pending' end,
    body = case when is_delivered or is_dropped then null else e.body end,
    ended_at = case when is_delivered or is_dropped then clock_timestamp() end,
    attempt = case when p_is_over and not is_delivered and not is_dropped then e.attempt + 1 else e.attempt end,
    due_at = clock_timestamp() + interval '10 s' * case when p_is_over then 2 ^ (e.attempt - 1) when p_error is null then 0 else 1 end,
    claim = null, lease_until = null
  where e.event_id = p_event;
  if not p_is_over then
    return 'given_up';
  end if;
  update webhooks.subscriptions s set
    failures_in_row = case when is_delivered then 0 else s.failures_in_row + 1 end,
    exhausted_in_row = case when is_delivered then 0 else s.exhausted_in_row + (event.attempt = 6)::int end,
    status = case when not is_delivered and event.attempt = 6 and s.exhausted_in_row >= 4 then 'disabled' else s.status end,
    disabled_reason = case
      when not is_delivered and event.attempt = 6 and s.exhausted_in_row >= 4 then 'delivery_failures'
      else s.disabled_reason end
  where s.subscription_id = subscription.subscription_id and s.status = 'active'
    and not (is_delivered and s.failures_in_row = 0 and s.exhausted_in_row = 0)
  returning s.status into subscription.status;
  return case when is_delivered then 'delivered' when subscription.status = 'disabled' then 'disabled'
    when is_dropped then 'dropped' else 'failed' end;
end $$;

-- Drops at most so many of the events that wait for a subscription that is gone or disabled, or wants their type no more:
-- none of them is sent, now or later. `p_app`: of that app alone.
create function webhooks.drop_stale(p_app text, p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  dropped int;
begin
  update webhooks.events e set state = 'dropped', body = null, ended_at = clock_timestamp()
  where e.event_id in (
    select o.event_id from webhooks.events o
    where o.state = 'pending' and (p_app is null or o.app_id = p_app) and not exists (
      select from webhooks.subscriptions s
      where s.subscription_id = o.subscription_id and s.status = 'active' and o.type = any (s.events)
    )
    limit p_most for update skip locked
  );
  get diagnostics dropped = row_count;
  return dropped;
end $$;

-- Whether an attempt of an older subscription than this one is under way; of any, where `p_generation` is null.
create function webhooks.is_sending(p_app text, p_generation bigint) returns boolean
language sql volatile security definer set search_path = pg_catalog as $$
  select exists (
    select from webhooks.events e
    where e.app_id = p_app and e.state = 'sending' and e.lease_until > clock_timestamp()
      and (p_generation is null or e.claimed_generation < p_generation)
  );
$$;

-- A developer's machine listens from now on, until this. Null where five of an app do already.
create function webhooks.listen(p_app text, p_listener text, p_events text[], p_threshold bigint, p_lease_ms int)
returns timestamptz
language plpgsql security definer set search_path = pg_catalog as $$
declare
  until constant timestamptz := clock_timestamp() + p_lease_ms * interval '1 ms';
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks.listen ' || p_app, 0));
  if (
    select count(*) from webhooks.subscriptions s where s.app_id = p_app and s.listening_until > clock_timestamp()
  ) >= 5 then
    return null;
  end if;
  insert into webhooks.subscriptions (app_id, listener_id, listening_until, events, low_balance_threshold_micros)
  values (p_app, p_listener, until, p_events, p_threshold);
  return until;
end $$;

-- Removes the listeners that look no more, and copies that nobody fetched for five minutes.
create function webhooks.drop_listeners() returns void
language sql volatile security definer set search_path = pg_catalog as $$
  delete from webhooks.subscriptions s where s.subscription_id in (
    select o.subscription_id from webhooks.subscriptions o where o.listening_until < clock_timestamp()
    for update skip locked
  );
  delete from webhooks.copies c where c.created_at < now() - interval '5 minutes';
$$;

-- Removes at most so many events that ended 30 days ago.
create function webhooks.sweep(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  ended constant timestamptz := clock_timestamp() - interval '30 days';
  removed int;
begin
  delete from webhooks.events e where e.event_id in (
    select o.event_id from webhooks.events o where o.ended_at < ended
    order by o.ended_at limit p_most for update skip locked
  );
  get diagnostics removed = row_count;
  return removed;
end $$;

revoke all on all functions in schema webhooks from public;
grant execute on function webhooks.claim, webhooks.outdated, webhooks.record, webhooks.drop_stale, webhooks.is_sending,
  webhooks.sweep, webhooks.listen, webhooks.drop_listeners, webhooks.instant to purser_live;
