-- Cells: several databases, each with gateways of its own, that share the users of all apps (decision 94).

create schema cells;
grant usage on schema cells to purser_live;

create table cells.cells (
  name text collate "C" primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  number smallint not null unique check (number between 0 and 999), -- Its wallets have ids of their own by it, see ledger.begin_wallet_ids.
  base_url text not null check (length(base_url) <= 2000), -- Where gateways of other cells reach it.
  created_at timestamptz not null default clock_timestamp(),
  -- The cell that has the directory writes its time here every few seconds, and the copies get it in order with everything else: so they
  -- know how old their copy is (decision 95). Null: another cell.
  beat_at timestamptz
);

-- Which cell has the users of a slot. There are all 4,096 rows or none.
create table cells.slots (
  slot smallint primary key check (slot between 0 and 4095), -- See cells.slot_of.
  cell text collate "C" not null references cells.cells,
  -- Where the slot is moving to, and how often it has begun to move (decision 96). While it moves, nobody in it may spend.
  moving_to text collate "C" references cells.cells,
  moves integer not null default 0
);

-- In the cell that takes a slot: whether the money of a move has arrived. The row is written once, so a move goes on or goes back, and never both.
-- Gateways ask the cells in which a slot was before for what was booked there (decision 99).
create table cells.arrivals (
  slot smallint not null,
  move integer not null, -- See cells.slots.moves.
  has_arrived boolean not null, -- False: the move was given up before.
  from_cell text collate "C" not null,
  wallets bigint not null,
  balance_micros bigint not null,
  owed_micros bigint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (slot, move)
);

-- Which cell this database is. No row: it is the only one.
create table cells.own (
  is_only boolean primary key default true check (is_only), -- One row.
  cell text collate "C" not null,
  -- The public address of the cell that has the directory, where accounts, apps and the catalogue are changed. Null: this database has it.
  directory_url text,
  -- When the copy in this database was compared with the directory, and the tables that differed (decision 95). In a cell that has a copy only.
  comparing_at timestamptz, -- The last comparison began.
  compared_at timestamptz, -- The last one ended that has an outcome: `differing`.
  differing text[] not null default '{}',
  -- Whether this cell spends of API keys' budgets only what their home lends it (decision 102). A gateway says so at its start.
  borrows_budgets boolean not null default false
);

grant select on cells.cells, cells.slots, cells.arrivals, cells.own to purser_live;
grant update (beat_at) on cells.cells to purser_live;
grant update (comparing_at, compared_at, differing) on cells.own to purser_live;
