-- Charges that were told to callers and come after their holds were released (WA-10, decision 88). New rows and values only:
-- older builds go on beside this one, and their replays book no late charge. Locks ledger.key_budgets for a moment.

-- The part of such a charge that its wallet could not pay: the operator's loss.
alter type ledger.entry_kind add value 'charge_lost';

-- Calls that were charged late. The receipt with which a call's hold was released stays as it is. The late charge has a
-- receipt of its own, with an id of the time at which it was booked.
create table usage.late_receipts (
  call_id uuid primary key, -- As its caller knows it. Once: a call is charged late at most once.
  receipt_id uuid not null unique -- In usage.calls.
);
grant select on usage.late_receipts to purser_live;

-- The limit that the last call came with, so that a late charge respects it too. Null: no call has come since this migration.
alter table ledger.key_budgets add column limit_micros bigint;
