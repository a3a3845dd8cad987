-- What closed months of receipts add up to (decision 91). Locks nothing for longer than a moment.

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
grant select on ledger.month_wallets to purser_live;

-- The same of budgets of API keys (CP-08).
create table ledger.month_budgets (
  month date not null,
  key_id text collate "C" not null,
  spent_month date not null,
  charged_micros bigint not null,
  primary key (key_id, month, spent_month)
);
grant select on ledger.month_budgets to purser_live;

-- Receipts of calls before this one are in the sums, and the check has been over them: later passes need not look for more there.
alter table stats.passes add column from_call uuid not null default '00000000-0000-0000-0000-000000000000';
alter table ledger.last_check add column from_call uuid not null default '00000000-0000-0000-0000-000000000000';
