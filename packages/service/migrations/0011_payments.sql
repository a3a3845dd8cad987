-- Payments by a processor, their refunds and disputes; and the simulated bank of the test processor.

create schema payments;
grant usage on schema payments to purser_live;

-- A place where somebody may pay, at the processor. Nothing that happens there counts until the processor says so.
-- A process that changes what is known of its payment locks this row first, and the wallet after it.
create table payments.checkouts (
  checkout_id text collate "C" primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  identity_id text collate "C", -- Who began it.
  amount_micros bigint not null check (amount_micros > 0),
  currency char(3) not null,
  processor text not null,
  processor_checkout text collate "C", -- Its name at the processor; null until the processor has answered.
  link_digest bytea, -- Of the link by which it was begun. A payment spends the link (BI-04).
  created_at timestamptz not null default clock_timestamp(),
  next_look_at timestamptz default clock_timestamp() + interval '1 minute', -- Without a notice; null: never again.
  -- It is paid, and its payment must be looked up once more: its wallet has moved to this cell, and the processor may have told a cell
  -- that knew nothing of it (decision 96).
  look_again boolean not null default false,
  unique (processor, processor_checkout)
);
create index checkouts_of on payments.checkouts (app_id, user_id, created_at);
create index checkouts_by_link on payments.checkouts (link_digest) where link_digest is not null;
create index checkouts_to_look_at on payments.checkouts (next_look_at) where next_look_at is not null;
-- A person who is deleted is taken out of the checkouts that they began, and these are found by it. Few rows: people pay seldom.
create index checkouts_of_identity on payments.checkouts (identity_id) where identity_id is not null;

-- Money that the processor has confirmed.
create table payments.payments (
  payment_id text collate "C" primary key,
  checkout_id text collate "C" not null references payments.checkouts,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  processor text not null,
  processor_payment text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0), -- As received, not as asked for.
  currency char(3) not null,
  -- credited: in the wallet; kept: in no wallet, an operator must look. Neither becomes the other.
  state text not null check (state in ('credited', 'kept')),
  -- What is not as it should be. A credited payment may have one too.
  anomaly text check (anomaly in ('amount', 'currency', 'second', 'no_wallet', 'too_much', 'owner_deleted')),
  paid_at timestamptz not null default clock_timestamp(),
  unique (processor, processor_payment),
  check (state = 'credited' or anomaly is not null)
);
create index payments_of on payments.payments (app_id, user_id, paid_at);
create index payments_by_checkout on payments.payments (checkout_id);
create index payments_kept on payments.payments (paid_at) where state = 'kept'; -- Few: they wait for a person.

-- A payment, or part of one, that is paid back: asked for here, or made at the processor.
create table payments.refunds (
  refund_id text collate "C" primary key,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  -- asked: the processor was told, or is about to be; paid: the money has left; declined: it stays, or has come back.
  state text not null check (state in ('asked', 'paid', 'declined')),
  -- How it left the wallet: set_aside when it was asked for, taken when we heard of it. Null: it did not.
  booked_as text check (booked_as in ('set_aside', 'taken')),
  processor text not null,
  processor_refund text collate "C", -- Its name at the processor, once it was seen there.
  is_ours boolean not null, -- False: made at the processor.
  -- The request that it is part of. A key counts once for each wallet.
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  request_key text collate "C",
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  next_look_at timestamptz default clock_timestamp() + interval '1 minute',
  unique (processor, processor_refund),
  check (is_ours = (request_key is not null))
);
create index refunds_of on payments.refunds (payment_id);
create index refunds_by_request on payments.refunds (app_id, user_id, request_key) where request_key is not null;
create index refunds_to_look_at on payments.refunds (next_look_at) where state = 'asked';

-- Each movement of a dispute, once: money that a bank took, or gave back.
create table payments.dispute_movements (
  processor text not null,
  processor_movement text collate "C" not null, -- Stays out of addresses and lists, which have the movement_id.
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  is_reinstated boolean not null, -- True: the bank gave it back.
  is_booked boolean not null, -- False: its payment is in no wallet, or it found no room in the balance.
  at timestamptz not null default clock_timestamp(),
  movement_id text collate "C" not null default 'dsp_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 22),
  primary key (processor, processor_movement)
);
create index dispute_movements_of on payments.dispute_movements (payment_id);
create unique index dispute_movements_by_id on payments.dispute_movements (movement_id);

-- The lists of operators, newest first: of everybody, and of one app. Six more rows of an index for each payment.
create index checkouts_newest on payments.checkouts (created_at, checkout_id);
create index checkouts_of_app on payments.checkouts (app_id, created_at, checkout_id);
create index payments_newest on payments.payments (paid_at, payment_id);
create index payments_of_app on payments.payments (app_id, paid_at, payment_id);
create index refunds_newest on payments.refunds (created_at, refund_id);
create index refunds_of_app on payments.refunds (app_id, created_at, refund_id);
create index dispute_movements_newest on payments.dispute_movements (at, movement_id);

-- What was booked in a period, of all wallets, for reconciliation. A call changes none of these tables.
create index payments_by_time on payments.payments (processor, paid_at);
create index refunds_by_end on payments.refunds (processor, ended_at) where state = 'paid';
create index dispute_movements_by_time on payments.dispute_movements (processor, at);

-- What about a payment waits for a person (decision 68). A case is opened by the booking that needs a decision and closed by
-- the act that solves it, or by a later booking. One that comes back is a new row, so that an old form solves nothing twice.
create table payments.cases (
  case_id text collate "C" primary key,
  payment_id text collate "C" not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  kind text not null check (kind in ('kept', 'refund_unknown', 'refund_not_released', 'refund_not_returned', 'refund_not_taken',
    'dispute_not_booked', 'other_currency', 'wallet_suspended')),
  subject text collate "C" not null, -- The payment, refund or movement of a dispute.
  opened_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  closed_as text,
  check ((closed_at is null) = (closed_as is null))
);
create unique index cases_open on payments.cases (subject, kind) where closed_at is null;
create index cases_open_of_wallet on payments.cases (app_id, user_id) where closed_at is null;
create index cases_of on payments.cases (payment_id, opened_at);

-- The ids of verified webhooks that were acted on, so that one that comes twice is recognised.
create table payments.processor_webhooks (
  processor text not null,
  webhook_id text collate "C" not null,
  type text not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (processor, webhook_id)
);
create index processor_webhooks_by_age on payments.processor_webhooks (received_at);

grant select, insert, update on payments.checkouts, payments.payments, payments.refunds, payments.dispute_movements, payments.cases
  to purser_live;
grant select, insert, delete on payments.processor_webhooks to purser_live;

-- The bank of the test processor. Only development services use it, and no real money moves there. The tables are in every
-- database, so that there is one schema.

-- A place to pay, as the bank knows it.
create table payments.test_checkouts (
  test_checkout text collate "C" primary key,
  checkout_id text collate "C" not null unique, -- Ours: asking twice for the same one gives the same place.
  amount_micros bigint not null check (amount_micros > 0),
  currency char(3) not null,
  app_name text not null,
  return_url text not null,
  cancel_url text not null,
  confirming text, -- What the card does that waits for a second step; never its number.
  created_at timestamptz not null default clock_timestamp()
);

create table payments.test_payments (
  test_payment text collate "C" primary key,
  test_checkout text collate "C" not null unique references payments.test_checkouts, -- Paid once.
  card text not null, -- The name of what it does.
  paid_at timestamptz not null default clock_timestamp()
);

create table payments.test_refunds (
  test_refund text collate "C" primary key,
  test_payment text collate "C" not null references payments.test_payments,
  refund_id text collate "C" unique, -- Ours; null: made by the bank itself.
  amount_micros bigint not null check (amount_micros > 0),
  state text not null check (state in ('under_way', 'paid', 'declined'))
);
create index test_refunds_of on payments.test_refunds (test_payment);

create table payments.test_movements (
  test_movement text collate "C" primary key,
  test_payment text collate "C" not null references payments.test_payments,
  amount_micros bigint not null check (amount_micros > 0),
  is_reinstated boolean not null
);
create index test_movements_of on payments.test_movements (test_payment);

-- What will happen at the bank, with the notice that tells of it. A row goes when its notice was taken.
create table payments.test_events (
  test_event text collate "C" primary key,
  test_payment text collate "C" not null references payments.test_payments,
  type text not null,
  happens_at timestamptz not null, -- The events of one payment happen in this order.
  due_at timestamptz not null, -- When it is tried next.
  attempts int not null default 0
);
create index test_events_due on payments.test_events (due_at);
create index test_events_of on payments.test_events (test_payment, happens_at);

grant select, insert, update, delete on payments.test_checkouts, payments.test_payments, payments.test_refunds,
  payments.test_movements, payments.test_events to purser_live;
