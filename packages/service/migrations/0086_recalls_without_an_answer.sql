-- A recall that nobody answers no longer hides what a cell says it has (decision 102). Locks ledger.allowances, which is small, for a moment.
alter table ledger.allowances
  -- Of the message by which lent_micros is what it is: the last one that lent, or the last recall that was answered. What a cell said before it does not count.
  add column lent_number bigint not null default 0;
-- Questions and answers that are on their way count as they did.
update ledger.allowances set lent_number = number;
