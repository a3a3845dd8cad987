-- Payments by a processor. Locks: none that matter, everything is new.

create schema payments;
grant usage on schema payments to purser_live;

-- A place where somebody may pay, at the processor. Nothing counts that happens there until the processor says so. Whoever
-- changes what is known of its payment locks this row first, and the wallet after it.
create table payments.checkouts (
  checkout_id text collate "C" primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  identity_id text collate "C", -- Who began it.
  amount_micros bigint not null check (amount_micros > 0),
  currency char(3) not null,
  processor text not null,
  processor_checkout text collate "C", -- By what the processor knows it; null until it has answered.
  link_digest bytea, -- Of the link by which it was begun: a payment spends it (BI-04).
  created_at timestamptz not null default clock_timestamp(),
  -- When somebody looks there although no notice came; null: never again.
  next_look_at timestamptz default clock_timestamp() + interval '1 minute',
  unique (processor, processor_checkout)
);
create index checkouts_of on payments.checkouts (app_id, user_id, created_at);
create index checkouts_by_link on payments.checkouts (link_digest) where link_digest is not null;
create index checkouts_to_look_at on payments.checkouts (next_look_at) where next_look_at is not null;

-- What a processor has confirmed.
create table payments.payments (
  payment_id text collate "C" primary key,
  checkout_id text collate "C" not null references payments.checkouts,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  processor text not null,
  processor_payment text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0), -- As received, not as asked for.
  currency char(3) not null,
  -- credited: in the wallet; kept: not in any, an operator must look. Neither becomes the other.
  state text not null check (state in ('credited', 'kept')),
  -- What was other than it should be.
  oddity text check (oddity in ('amount', 'currency', 'second', 'no_wallet', 'too_much')),
  paid_at timestamptz not null default clock_timestamp(),
  unique (processor, processor_payment),
  check (state = 'credited' or oddity is not null)
);
create index payments_of on payments.payments (app_id, user_id, paid_at);
create index payments_by_checkout on payments.payments (checkout_id);

-- A refund, asked for here or there.
create table payments.refunds (
  refund_id text collate "C" primary key,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  -- asked: the processor was told, or is about to be; paid: the money has left; declined: it stays, or has come back.
  state text not null check (state in ('asked', 'paid', 'declined')),
  -- How it left the wallet: set_aside when it was asked for, taken when it was heard of; null where it did not.
  booked_as text check (booked_as in ('set_aside', 'taken')),
  processor text not null,
  processor_refund text collate "C", -- By what the processor knows it, once it was seen there.
  is_ours boolean not null, -- False: made at the processor.
  -- Whose request it is part of; a key counts once for each wallet.
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
  processor_movement text collate "C" not null,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  is_reinstated boolean not null,
  is_booked boolean not null, -- False: it is of a payment that is in no wallet, or found no room there.
  at timestamptz not null default clock_timestamp(),
  primary key (processor, processor_movement)
);
create index dispute_movements_of on payments.dispute_movements (payment_id);

-- Verified notices that were taken, by their ids.
create table payments.notices (
  processor text not null,
  notice_id text collate "C" not null,
  type text not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (processor, notice_id)
);
create index notices_by_age on payments.notices (received_at);

grant select, insert, update on payments.checkouts, payments.payments, payments.refunds to purser_live;
grant select, insert on payments.dispute_movements to purser_live;
grant select, insert, delete on payments.notices to purser_live;
