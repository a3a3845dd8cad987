-- Payments by a processor. Locks: none that matter, everything is new.

create schema payments;
grant usage on schema payments to purser_live;

-- A place where somebody may pay, at the processor. Nothing counts that happens there until the processor says so.
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
  unique (processor, processor_checkout)
);
create index checkouts_of on payments.checkouts (app_id, user_id, created_at);
create index checkouts_by_link on payments.checkouts (link_digest) where link_digest is not null;

-- What a processor has confirmed, as it was last seen there.
create table payments.payments (
  payment_id text collate "C" primary key,
  checkout_id text collate "C" not null unique references payments.checkouts,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  processor text not null,
  processor_payment text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0), -- As received, not as asked for.
  currency char(3) not null,
  -- credited: in the wallet; kept: an operator must look, for what came is not what was asked for.
  state text not null check (state in ('credited', 'kept')),
  paid_at timestamptz not null default clock_timestamp(),
  unique (processor, processor_payment)
);
create index payments_of on payments.payments (app_id, user_id, paid_at);

-- A refund, asked for here or there.
create table payments.refunds (
  refund_id text collate "C" primary key,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  -- asked: set aside, and the processor told or about to be; paid; declined: released.
  state text not null check (state in ('asked', 'paid', 'declined')),
  processor_refund text collate "C" unique,
  is_ours boolean not null, -- False: made at the processor.
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create index refunds_of on payments.refunds (payment_id);
create index refunds_open on payments.refunds (created_at) where state = 'asked';

-- Each movement of a dispute, once: money that a bank took, or gave back.
create table payments.dispute_movements (
  processor text not null,
  processor_movement text collate "C" not null,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  is_reinstated boolean not null,
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

grant select, insert, update on payments.checkouts, payments.payments, payments.refunds, payments.dispute_movements,
  payments.notices to purser_live;
