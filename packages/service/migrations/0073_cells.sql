-- Cells: several databases, each with gateways of its own, that share the users of all apps (decision 94). New tables: locks nothing.

create schema cells;
grant usage on schema cells to purser_live;

create table cells.cells (
  name text collate "C" primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  number smallint not null unique check (number between 0 and 999), -- Its wallets have ids of their own by it, see ledger.begin_wallet_ids.
  base_url text not null check (length(base_url) <= 2000), -- Where gateways of other cells reach it.
  created_at timestamptz not null default clock_timestamp()
);

-- Which cell has the users of a slot. There are all 4,096 rows or none.
create table cells.slots (
  slot smallint primary key check (slot between 0 and 4095), -- See cells.slot_of.
  cell text collate "C" not null references cells.cells
);

-- Which cell this database is. No row: it is the only one.
create table cells.own (
  is_only boolean primary key default true check (is_only), -- One row.
  cell text collate "C" not null
);
grant select on cells.cells, cells.slots, cells.own to purser_live;

insert into db.generations (topic) values ('cells');
