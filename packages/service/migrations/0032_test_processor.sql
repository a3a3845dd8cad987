-- The make-believe bank of the test processor. Of development services alone, where no real money moves; the tables are there
-- everywhere, so that every database has one schema. Locks: none that matter, everything is new.

-- A place to pay, as the bank knows it.
create table payments.test_checkouts (
  test_checkout text collate "C" primary key,
  checkout_id text collate "C" not null unique, -- As it was told: the same asked for twice is one.
  amount_micros bigint not null check (amount_micros > 0),
  currency char(3) not null,
  app_name text not null,
  return_url text not null,
  cancel_url text not null,
  -- What the card does that waits for a second step; never its number.
  confirming text,
  created_at timestamptz not null default clock_timestamp()
);

create table payments.test_payments (
  test_payment text collate "C" primary key,
  test_checkout text collate "C" not null unique references payments.test_checkouts, -- Paid once.
  card text not null, -- What it does, by its name.
  paid_at timestamptz not null default clock_timestamp()
);

create table payments.test_refunds (
  test_refund text collate "C" primary key,
  test_payment text collate "C" not null references payments.test_payments,
  refund_id text collate "C" unique, -- Of who asked for it; null: made by the bank itself.
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

-- What happens at the bank later, and the notice of it. It goes when the notice has been taken.
create table payments.test_events (
  test_event text collate "C" primary key,
  test_payment text collate "C" not null references payments.test_payments,
  type text not null,
  happens_at timestamptz not null, -- Those of one payment happen in this order.
  due_at timestamptz not null, -- When it is next tried.
  attempts int not null default 0
);
create index test_events_due on payments.test_events (due_at);
create index test_events_of on payments.test_events (test_payment, happens_at);

grant select, insert, update, delete on payments.test_checkouts, payments.test_payments, payments.test_refunds,
  payments.test_movements, payments.test_events to purser_live;
