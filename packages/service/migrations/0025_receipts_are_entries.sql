-- The receipt of a call is the entry of its charge: one row for each call less, and one index less. Charges from before
-- keep their own rows. Locks both tables for as long as it takes to read usage.calls twice.

-- Movements that have a row of their own: all but the charges of calls, and the charges from before this migration.
alter table ledger.entries rename to journal;

alter table usage.calls
  add column seq bigint, -- The number of its entry. Null if it is no entry: nothing was charged, or not all of it from the wallet.
  add column balance_after_micros bigint; -- Of the wallet.
alter table usage.calls add constraint calls_are_whole_entries check (
  case when seq is null then balance_after_micros is null
    else seq > 0 and charged_micros > 0 and coalesce(balance_after_micros, -1) >= 0 end
);
create unique index calls_entries on usage.calls (wallet_id, seq) where seq is not null;

-- Every movement of money, once (WA-09). A receipt moves its charge from the wallet to what we have earned.
create view ledger.entries as
  select wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at from ledger.journal
  union all
  select wallet_id, seq, 'charge', call_id::text, 'wallet', 'earned', charged_micros, balance_after_micros, settled_at
  from usage.calls where seq is not null;
grant select on ledger.entries to purser_live;
