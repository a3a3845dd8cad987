-- Monthly budgets of API keys, in real and in play money (CP-08). Only calls with such a key read or write any of this.

-- One row for each line of keys that has had a budget, and each month: what calls with these keys cost, and what they hold.
-- The limit comes with the call. Locked after all wallets, in the order of the primary key.
create table ledger.key_budgets (
  key_id text collate "C" not null,
  month date not null, -- That of the holds (WA-08).
  spent_micros bigint not null default 0,
  held_micros bigint not null default 0,
  primary key (key_id, month),
  constraint figures_are_in_range check (least(spent_micros, held_micros) >= 0)
) -- A busy key changes its row with every turn of each process: updates stay in their page.
with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);
grant select on ledger.key_budgets to purser_live;

create table sandbox.key_budgets (
  key_id text collate "C" not null,
  month date not null,
  spent_micros bigint not null default 0,
  held_micros bigint not null default 0,
  primary key (key_id, month),
  constraint figures_are_in_range check (least(spent_micros, held_micros) >= 0)
)
with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);

-- The line of keys whose budget a hold counts for. Null in nearly every row.
alter table ledger.holds add column budget_key text collate "C";
alter table sandbox.holds add column budget_key text collate "C";
-- And the receipt, so that the check can add up what a budget has spent.
alter table usage.calls add column budget_key text collate "C";

alter type db.hold_request add attribute budget_key text; -- Null: the key has no budget.
alter type db.hold_request add attribute budget_micros bigint;
