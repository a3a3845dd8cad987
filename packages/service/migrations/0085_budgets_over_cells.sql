-- Monthly budgets of API keys hold over all cells (decision 102). New columns and a new table: locks ledger.key_budgets and cells.own for a moment.

-- What the home of a budget has lent to each other cell. Guarded by the lock of the row of the budget.
create table ledger.allowances (
  key_id text collate "C" not null,
  month date not null,
  cell text collate "C" not null, -- Which may spend it.
  lent_micros bigint not null default 0, -- All of it, with what is spent of it.
  spent_micros bigint not null default 0, -- As much of it is known to be spent.
  limit_micros bigint, -- The budget under which it was lent last. Null: none has been.
  number bigint not null default 0, -- Of the last message about it. The cell takes none that has a lower one.
  primary key (key_id, month, cell),
  constraint figures_are_in_range check (spent_micros between 0 and lent_micros)
);
grant select on ledger.allowances to purser_live;

alter table ledger.key_budgets
  -- In the home: the sums of ledger.allowances.
  add column lent_micros bigint not null default 0,
  add column lent_spent_micros bigint not null default 0,
  -- In another cell: what the home has lent it.
  add column allowance_micros bigint, -- Null: nothing yet.
  add column allowance_limit bigint, -- A call with a smaller budget than this may not spend it.
  add column allowance_number bigint not null default 0, -- Of the message that said so.
  -- Until then it is known that other cells have no more to spare.
  add column no_more_until timestamptz;

-- Whether this cell spends of API keys' budgets only what their home lends it. A gateway says so at its start.
alter table cells.own add column borrows_budgets boolean not null default false;
