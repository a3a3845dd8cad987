-- What providers charged for the calls that users paid for, and what operators look at first.

-- Null in the rows from before this migration: what they cost is not known. `purser stats rebuild` works it out.
alter table stats.hours add column cost_micros bigint check (cost_micros >= 0);
alter table stats.hours alter column cost_micros set default 0;
alter table stats.rebuilt add column cost_micros bigint default 0;

-- Payments that wait for a person, and suspended wallets: both are few. A call changes none of these columns, so its
-- updates of a wallet stay within their page.
create index payments_kept on payments.payments (paid_at) where state = 'kept';
create index wallets_suspended on ledger.wallets (wallet_id) where is_suspended;

-- Operators are few among the accounts, and are looked for by each look at the overview.
create index accounts_operators on accounts.accounts (account_id) where role = 'operator';
