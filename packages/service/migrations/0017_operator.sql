-- How much money operators move, and the acts that wait for a second person (decision 72).

create schema operator;
grant usage on schema operator to purser_live;

-- What an operator has moved within 24 hours. Counted under the lock of the operator's account, so that acts at once cannot
-- exceed the sum of the day. An operator's older rows go with their next act.
create table operator.movements (
  movement_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  at timestamptz not null default clock_timestamp(),
  amount_micros bigint not null check (amount_micros > 0)
);
create index movements_of_account on operator.movements (account_id, at);
grant select, insert (account_id, amount_micros), delete on operator.movements to purser_live;

-- Acts that are too large for one person. Nothing has moved until somebody else confirms.
create table operator.pending_acts (
  seq bigint generated always as identity primary key,
  pending_id text collate "C" not null unique,
  action text collate "C" not null, -- As in the audit trail.
  subject text collate "C" not null,
  key text collate "C" not null, -- The idempotency key of the act, or empty.
  act jsonb not null, -- What is done once it is confirmed.
  amount_micros bigint not null check (amount_micros > 0),
  reason text not null,
  before jsonb, -- What it would have changed when it was asked for.
  after jsonb,
  requested_by text collate "C" not null,
  requested_email text not null,
  requested_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > requested_at),
  state text not null default 'waiting' check (state in ('waiting', 'done', 'rejected', 'expired')),
  decided_by text collate "C",
  decided_email text,
  decided_at timestamptz,
  decided_reason text,
  check ((state in ('done', 'rejected')) = (decided_by is not null)),
  check (state <> 'done' or decided_by <> requested_by),
  constraint pending_acts_emails_sealed check (requested_email ~ '^e1[.][A-Za-z0-9_-]+$' and decided_email ~ '^e1[.][A-Za-z0-9_-]+$')
);
-- A request that is repeated finds the act that waits, and makes no second one.
create unique index pending_acts_waiting on operator.pending_acts (action, subject, key) where state = 'waiting';
grant select, insert, update (state, decided_by, decided_email, decided_at, decided_reason) on operator.pending_acts
  to purser_live;
