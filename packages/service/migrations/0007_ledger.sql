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
  'outgoing', -- Set aside for refunds that the processor was asked for.
  'cells' -- What other cells hold of the wallets that moved (decision 96).
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
  'refund_paid', 'refund_released', -- The processor has paid it back; it has declined, and the money returns.
  'charge_lost', -- The part of a late charge that its wallet could not pay: the operator's loss (WA-10, decision 88).
  'moved_out', 'moved_in', -- The balance of a wallet that moves to another cell, booked in both.
  'owed_out', 'owed_in' -- What is owed of it.
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
  is_unkept boolean, -- Its answer is not kept: while a retry waits for it, the call does not end (CC-14).
  cache_write_tokens bigint, -- Prompt tokens that a provider wrote to its cache. They have a price of their own (MO-08).
  rare_counts jsonb
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
  balance_micros bigint not null default 0,
  held_micros bigint not null default 0, -- The sum of its holds.
  -- True while holds exceed the balance, which only a claw-back can bring about.
  is_clawed boolean not null default false,
  -- What users owe: receivables booked, less those recovered and written off (WA-06).
  shortfall_micros bigint not null default 0,
  cap_micros bigint, -- For each month; null: none.
  cap_month date not null default '1970-01-01', -- The month that the next two sums are of. It never moves back.
  cap_spent_micros bigint not null default 0,
  cap_held_micros bigint not null default 0,
  open_streams int not null default 0, -- Holds that belong to streams (LI-02).
  entry_seq bigint not null default 0, -- The number of its last entry.
  version bigint not null default 0, -- How often it has changed.
  created_at timestamptz not null default clock_timestamp(),
  first_connected_at timestamptz, -- Its app learns of the user's first connection, and of no other (WH-07).
  -- Holds of plain calls (CC-18). A drain whose slot was taken is neither of these nor a stream: its hold has `drained_since`.
  open_calls int not null default 0,
  -- When its last owner was deleted: what they called before is not paid by who owns it afterwards (WA-10, decision 88).
  owner_deleted_at timestamptz,
  unique (app_id, user_id),
  -- No figure is below zero, and no amount above 2^53 - 1. A cap that is null is passed over. It is one check, because PostgreSQL reads
  -- the text of every check anew in each statement that writes: with one for each column it took an eighth of the time of a hold and
  -- settlement alone.
  constraint figures_are_in_range check (
    least(balance_micros, held_micros, shortfall_micros, cap_micros, cap_spent_micros, cap_held_micros, open_streams, open_calls) >= 0
    and greatest(balance_micros, cap_micros) <= 9007199254740991
  ),
  -- Overspending cannot be written: placing a hold does not set is_clawed (WA-07).
  constraint holds_are_covered check (is_clawed = (held_micros > balance_micros)),
  -- Nobody spends who owes (WA-05).
  constraint a_shortfall_suspends check (shortfall_micros = 0 or is_suspended)
) -- Every call changes a row. No index is on a column that changes, and pages have room, so that updates stay in their page.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- A wallet that is not connected is not in the index by which calls look for wallets. So a call for a user who has
-- disconnected reads, locks and writes exactly what a call for a stranger does: nothing (WA-02). It is on an expression, so
-- that the planner has no choice: by the index on the two columns it would read the row first. No id contains a space.
create unique index wallets_connected on ledger.wallets ((app_id || ' ' || user_id)) where is_connected;
-- Suspended wallets are few, and operators look for them.
create index wallets_suspended on ledger.wallets (wallet_id) where is_suspended;
-- Lists of wallets for operators: all of them, those of an app, those that are suspended or disconnected,
-- and those of a user id. No call changes these columns. The expressions keep the indexes out of the statements of calls, which find a
-- wallet by its app and user.
create index wallets_by_age on ledger.wallets (created_at, wallet_id);
create index wallets_of_app_by_age on ledger.wallets ((app_id || ''), created_at, wallet_id);
create index wallets_out_of_order on ledger.wallets (created_at, wallet_id) where is_suspended or not is_connected;
create index wallets_of_user on ledger.wallets ((user_id || ' ' || app_id));

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
  is_joined boolean not null default false, -- A retry waits for its answer.
  budget_key text collate "C" -- The line of keys whose budget it counts for, see ledger.key_budgets. Null in nearly every row.
);
create index holds_drained on ledger.holds (wallet_id, drained_since) where drained_since is not null;
create index holds_key on ledger.holds (key_digest) where key_digest is not null;

-- Movements of money that have a row of their own: all but charges that came whole from the wallet, which their receipts are.
-- `amount` goes out of the debited book into the credited one, so that debits equal credits by construction (WA-09). The entries of one
-- wallet, with those of its receipts, are numbered without a gap and carry its balance after them.
--
-- Rows are never changed or removed: see refuse_change. Which books a kind moves between is checked: see moves_between.
create table ledger.journal (
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

-- Every movement of money, once (WA-09). A receipt moves its charge from the wallet to what we have earned.
create view ledger.entries as
  select wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at from ledger.journal
  union all
  select wallet_id, seq, 'charge', call_id::text, 'wallet', 'earned', charged_micros, balance_after_micros, settled_at
  from usage.calls where seq is not null;

-- Monthly budgets of API keys (CP-08). Only calls with such a key read or write any of this.
--
-- One row for each line of keys that has had a budget, and each month: what calls with these keys cost, and what they hold.
-- The limit comes with the call. Locked after all wallets, in the order of the primary key. A budget holds over all cells (decision 102):
-- its home lends the other cells of it.
create table ledger.key_budgets (
  key_id text collate "C" not null,
  month date not null, -- That of the holds (WA-08).
  spent_micros bigint not null default 0,
  held_micros bigint not null default 0,
  limit_micros bigint, -- The limit that the last call came with, so that a late charge respects it too.
  -- In the home: the sums of ledger.allowances.
  lent_micros bigint not null default 0,
  lent_spent_micros bigint not null default 0,
  -- In another cell: what the home has lent it.
  allowance_micros bigint, -- Null: nothing yet.
  allowance_limit bigint, -- A call with a smaller budget than this may not spend it.
  allowance_number bigint not null default 0, -- Of the message that said so.
  -- Until then it is known that other cells have no more to spare.
  no_more_until timestamptz,
  primary key (key_id, month),
  constraint figures_are_in_range check (least(spent_micros, held_micros) >= 0)
) -- A busy key changes its row with every turn of each process: updates stay in their page.
with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);

-- What the home of a budget has lent to each other cell. Guarded by the lock of the row of the budget.
create table ledger.allowances (
  key_id text collate "C" not null,
  month date not null,
  cell text collate "C" not null, -- Which may spend it.
  lent_micros bigint not null default 0, -- All of it, with what is spent of it.
  spent_micros bigint not null default 0, -- As much of it is known to be spent.
  limit_micros bigint, -- The budget under which it was lent last. Null: none has been.
  number bigint not null default 0, -- Of the last message about it. The cell takes none that has a lower one.
  -- Of the message by which lent_micros is what it is: the last one that lent, or the last recall that was answered. What a cell said
  -- before it does not count.
  lent_number bigint not null default 0,
  primary key (key_id, month, cell),
  constraint figures_are_in_range check (spent_micros between 0 and lent_micros)
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
  differences bigint not null default 0,
  -- The check has been over the receipts of calls before this one: later passes need not look for more there.
  from_call uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into ledger.last_check default values;

-- What the ledger checks found, for 90 days: every full check, and the checks of changes summed by the hour.
create table ledger.checks (
  check_id bigint generated always as identity primary key,
  kind text collate "C" not null check (kind in ('full', 'changes')),
  begun_at timestamptz not null, -- For `changes` the hour.
  ended_at timestamptz not null,
  process text collate "C" not null check (length(process) <= 200), -- The last that ran one.
  passes int not null default 1 check (passes > 0),
  wallets bigint not null,
  longest_ms bigint not null,
  differences bigint not null -- The most that one pass found.
);
create unique index checks_of_hour on ledger.checks (begun_at) where kind = 'changes';
create index checks_ended on ledger.checks (ended_at);

-- The months that receipts are kept in (decision 91), without gaps. `usage.calls_2026_11` has those of November 2026.
create table ledger.months (
  month date primary key,
  from_call uuid, -- Null in the first month: it has all that came before.
  before_call uuid not null,
  closed_at timestamptz, -- Null: open. A closed month is checked, added up and sealed, and takes no receipts.
  receipts bigint,
  entries bigint, -- Receipts that are entries.
  charged_micros bigint, -- Of all receipts.
  last_settled_at timestamptz, -- The end of its last call, perhaps in the next month. Null: it has no calls.
  rows_hash bytea, -- SHA-256 of the month as CSV, see ledger.month_page.
  chain_hash bytea, -- SHA-256 of what is said of this month and of the months before, see ledger.close_month.
  archived_at timestamptz, -- When an archive of it was last read back and found whole. Null: never.
  detached_at timestamptz, -- Its receipts are only in an archive. Null: they are here.
  constraint a_closed_month_has_its_figures check (
    (closed_at is null) = (receipts is null) and (closed_at is null) = (entries is null)
    and (closed_at is null) = (charged_micros is null) and (closed_at is null) = (rows_hash is null)
    and (closed_at is null) = (chain_hash is null)
  ),
  constraint only_a_closed_month_is_archived check (archived_at is null or closed_at is not null),
  constraint only_an_archived_month_is_detached check (detached_at is null or archived_at is not null)
);

-- The month in which the database is made. Later ones are made by ledger.make_month.
do $$
declare
  this constant date := date_trunc('month', clock_timestamp() at time zone 'UTC')::date;
  part constant text := 'calls_' || to_char(this, 'YYYY_MM'); -- As ledger.receipts_of names it.
  before_call constant uuid := -- As ledger.first_call makes it.
    (lpad(to_hex((extract(epoch from (this + interval '1 month') at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
begin
  execute format('create table usage.%I partition of usage.calls for values from (minvalue) to (%L)', part, before_call);
  execute format('create unique index %I on usage.%I (wallet_id, seq) where seq is not null', part || '_entries', part);
  insert into ledger.months (month, before_call) values (this, before_call);
end $$;

-- What a wallet's receipts of a closed month add up to, by the month that their holds counted for (WA-08). Written once.
create table ledger.month_wallets (
  month date not null,
  wallet_id bigint not null,
  spent_month date not null,
  receipts bigint not null,
  charged_micros bigint not null, -- Of all receipts.
  entries bigint not null, -- Receipts that are entries.
  booked_micros bigint not null, -- Of those.
  last_seq bigint, -- The number of the last of those. Null if there is none.
  opening_micros bigint, -- The balance before the first of those, and after the last.
  closing_micros bigint,
  last_settled_at timestamptz not null,
  primary key (wallet_id, month, spent_month)
);

-- The same of budgets of API keys (CP-08).
create table ledger.month_budgets (
  month date not null,
  key_id text collate "C" not null,
  spent_month date not null,
  charged_micros bigint not null,
  primary key (key_id, month, spent_month)
);

-- Wallets that are leaving this cell, or have left it (decision 96). Nobody spends from them, and no act moves their money.
create table ledger.leaving (
  wallet_id bigint primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  slot smallint not null,
  move integer not null,
  was_connected boolean not null,
  since timestamptz not null default clock_timestamp(),
  left_at timestamptz, -- Null: the move may still be given up.
  unique (app_id, user_id)
);
create index leaving_slot on ledger.leaving (slot);

-- Acts on wallets that were booked in another cell before they came. Each still counts once, and what was set aside there ends here.
create table ledger.earlier_acts (
  cause text collate "C" not null,
  kind ledger.entry_kind not null,
  wallet_id bigint not null,
  amount_micros bigint not null check (amount_micros > 0),
  primary key (cause, kind)
);
create index earlier_acts_wallet on ledger.earlier_acts (wallet_id);

-- All acts on wallets, of this cell and of others.
create view ledger.acts as
select j.wallet_id, j.kind, j.cause, j.amount_micros from ledger.journal j
union all
select e.wallet_id, e.kind, e.cause, e.amount_micros from ledger.earlier_acts e;

-- What a wallet that came had spent of its cap in other cells in that month (WA-08). No receipt here says so.
create table ledger.spent_elsewhere (
  wallet_id bigint not null,
  move integer not null,
  month date not null,
  spent_micros bigint not null check (spent_micros > 0),
  primary key (wallet_id, move)
);

grant select on all tables in schema ledger to purser_live;
