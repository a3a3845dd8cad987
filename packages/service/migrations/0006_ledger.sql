-- Real money: wallets, holds and the ledger.
--
-- Nobody writes these tables but the functions of src/ledger, which run with the owner's rights. The role of the gateway
-- reads, and calls them. Each function that changes wallets first locks all of them, in the order of wallet_id, so that
-- two never wait for each other in a circle.

create schema ledger;
grant usage on schema ledger to purser_live;

-- The books that money moves between. `wallet` is what we owe to end users. The others say where money came from or went.
create type ledger.book as enum (
  'wallet',
  'earned', -- The operator's revenue.
  'processor', -- What the payment processor has received or paid back.
  'receivable', -- What users owe: it was taken back or charged, and their balance did not cover it.
  'contract', -- Credit by contract, which no processor knows.
  'loss', -- What the operator gave up, or paid a provider above a hold.
  'outgoing' -- Set aside for refunds that the processor was asked for.
);

-- Why an entry was made. Each kind moves money between one fixed pair of books, see debit_of and credit_of.
create type ledger.entry_kind as enum (
  'charge', 'charge_receivable', -- The price of a call; the part of it that a claw-back left nothing to pay with.
  'top_up', 'contract_credit', 'funds_reinstated', -- In: by a payment; by contract; by a dispute that was won.
  'refund', 'refund_receivable', -- Out: paid back by us; the part of it that was not there.
  'claw_back', 'claw_back_receivable', -- Out: taken by a bank; the part of it that was not there.
  'recovery', 'write_off', -- A receivable that is paid from the balance later; one that is given up.
  'charge_overrun', -- What a provider bills above a call's hold: the operator's loss, never the wallet's (WA-07).
  'refund_set_aside', -- Out of the wallet before the processor is asked for a refund, so that no call can spend it.
  'refund_paid', 'refund_released' -- The processor has paid it back; it has declined, and the money returns.
);

-- How a call ended, for its charge and its receipt. src/ledger/settlement/settlement.ts writes it.
create type ledger.settlement as (
  call_id uuid,
  charge_micros bigint, -- What it costs. What exceeds the hold is not taken; 0 gives the whole hold back.
  outcome text,
  model text,
  price_id bigint,
  is_estimated boolean,
  is_usage_clamped boolean,
  prompt_tokens bigint,
  cached_tokens bigint,
  completion_tokens bigint,
  reasoning_tokens bigint,
  correlation_id text,
  is_unkept boolean -- Its answer is not kept: while a retry waits for it, the call does not end (CC-14).
);

-- The stored value of one (app, end user).
create table ledger.wallets (
  wallet_id bigint generated always as identity primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  currency char(3) not null,
  -- Two facts that never touch each other: what the user allowed, and what a claw-back blocked (WA-11).
  is_connected boolean not null default true,
  is_suspended boolean not null default false,
  balance_micros bigint not null default 0 check (balance_micros between 0 and 9007199254740991),
  held_micros bigint not null default 0 check (held_micros >= 0), -- The sum of its holds.
  -- True while holds exceed the balance, which only a claw-back can bring about.
  is_clawed boolean not null default false,
  -- What users owe: receivables booked, less those recovered and written off (WA-06).
  shortfall_micros bigint not null default 0 check (shortfall_micros >= 0),
  cap_micros bigint check (cap_micros between 0 and 9007199254740991), -- For each month; null: none.
  cap_month date not null default '1970-01-01', -- The month that the next two sums are of. It never moves back.
  cap_spent_micros bigint not null default 0 check (cap_spent_micros >= 0),
  cap_held_micros bigint not null default 0 check (cap_held_micros >= 0),
  open_streams int not null default 0 check (open_streams >= 0), -- Holds that belong to streams (LI-02).
  entry_seq bigint not null default 0, -- The number of its last entry.
  version bigint not null default 0, -- How often it has changed.
  created_at timestamptz not null default clock_timestamp(),
  first_connected_at timestamptz, -- Its app learns of the user's first connection, and of no other (WH-07).
  unique (app_id, user_id),
  -- Overspending cannot be written: placing a hold does not set is_clawed (WA-07).
  constraint holds_are_covered check (is_clawed = (held_micros > balance_micros)),
  -- Nobody spends who owes (WA-05).
  constraint a_shortfall_suspends check (shortfall_micros = 0 or is_suspended)
) -- Every call changes a row. No index is on a column that changes, and pages have room, so that updates stay in their page.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Money set aside for calls that run. A row is deleted when its call ends: the process that deletes it has ended the call.
--
-- Neither holds nor entries have foreign keys: their only writers take the ids from rows that they have locked, and the
-- ledger check finds rows without a wallet.
create table ledger.holds (
  call_id uuid primary key,
  wallet_id bigint not null,
  amount_micros bigint not null check (amount_micros > 0),
  month date not null, -- Whose cap it counts for (WA-08).
  is_stream boolean not null,
  instance_id bigint not null, -- The process that runs the call, see db.instances.
  placed_at timestamptz not null default clock_timestamp(),
  -- Since when the stream is read on without its caller. A new stream of the user may take its slot (LI-02, CC-11).
  drained_since timestamptz,
  -- Keyed digests by which a retry finds this call, see idempotency.kept_answers (CC-14). Null: no retry can find it.
  key_digest bytea,
  body_digest bytea,
  is_joined boolean not null default false -- A retry waits for its answer.
);
create index holds_drained on ledger.holds (wallet_id, drained_since) where drained_since is not null;
create index holds_key on ledger.holds (key_digest) where key_digest is not null;

-- Every movement of money, once: `amount` out of the debited book into the credited one, so that debits equal credits by
-- construction (WA-09). The rows of one wallet are numbered without a gap and carry its balance after them.
--
-- Rows are never changed or removed: see refuse_change. Which books a kind moves between is checked: see moves_between.
create table ledger.entries (
  wallet_id bigint not null,
  seq bigint not null check (seq > 0),
  kind ledger.entry_kind not null,
  cause text collate "C" not null, -- The call, payment, refund ... that it is for. Each counts once for each kind.
  debit ledger.book not null,
  credit ledger.book not null check (credit <> debit),
  amount_micros bigint not null check (amount_micros > 0),
  balance_after_micros bigint not null check (balance_after_micros >= 0),
  at timestamptz not null default clock_timestamp(),
  primary key (wallet_id, seq),
  unique (cause, kind)
);

-- The state of each wallet when the check last found it right. The next check adds up what is new since.
create table ledger.checkpoints (
  wallet_id bigint primary key,
  version bigint not null,
  entry_seq bigint not null,
  balance_micros bigint not null,
  shortfall_micros bigint not null,
  held_micros bigint not null,
  cap_month date not null,
  cap_spent_micros bigint not null
) with (fillfactor = 50);

-- When the last check began, by which processes take turns, and what the last one that ended has found.
create table ledger.last_check (
  is_only boolean primary key default true check (is_only), -- One row.
  begun_at timestamptz not null default 'epoch',
  ended_at timestamptz not null default 'epoch',
  differences bigint not null default 0
);
insert into ledger.last_check default values;

grant select on all tables in schema ledger to purser_live;
