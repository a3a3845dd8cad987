-- Slots move to another cell with the money of their users (decision 96). New tables, values and columns only. It locks cells.slots for a
-- moment. Cells that copy the directory get this version before the cell that has it: what is copied then has all columns there.

-- Where a slot is moving to, and how often it has begun to move. While it moves, nobody in it may spend.
alter table cells.slots
  add column moving_to text collate "C" references cells.cells,
  add column moves integer not null default 0;

-- In the cell that takes a slot: whether the money of a move has arrived. The row is written once, so a move goes on or goes back, and never both.
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

-- What other cells hold of the wallets that moved.
alter type ledger.book add value 'cells';
-- The balance and what is owed of a wallet that moves, booked in both cells.
alter type ledger.entry_kind add value 'moved_out';
alter type ledger.entry_kind add value 'moved_in';
alter type ledger.entry_kind add value 'owed_out';
alter type ledger.entry_kind add value 'owed_in';

-- Wallets that are leaving this cell, or have left it. Nobody spends from them, and no act moves their money.
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

-- What a wallet that came had spent of its cap in other cells in that month (WA-08). No receipt here says so.
create table ledger.spent_elsewhere (
  wallet_id bigint not null,
  move integer not null,
  month date not null,
  spent_micros bigint not null check (spent_micros > 0),
  primary key (wallet_id, move)
);

grant select on ledger.leaving, ledger.earlier_acts, ledger.spent_elsewhere to purser_live;

-- All acts on wallets, of this cell and of others.
create view ledger.acts as
select j.wallet_id, j.kind, j.cause, j.amount_micros from ledger.journal j
union all
select e.wallet_id, e.kind, e.cause, e.amount_micros from ledger.earlier_acts e;
grant select on ledger.acts to purser_live;
