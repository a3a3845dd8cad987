-- Plain calls that run, counted as streams are (CC-18). A drain whose slot was taken is neither: its hold has
-- `drained_since`. Locks both tables of wallets for as long as it takes to count the holds.
alter table ledger.wallets add column open_calls int not null default 0 check (open_calls >= 0);
alter table sandbox.wallets add column open_calls int not null default 0 check (open_calls >= 0);
update ledger.wallets w set open_calls = h.calls
from (
  select wallet_id, count(*) as calls from ledger.holds where not is_stream and drained_since is null group by wallet_id
) h where w.wallet_id = h.wallet_id;
update sandbox.wallets w set open_calls = h.calls
from (select wallet_id, count(*) as calls from sandbox.holds where not is_stream group by wallet_id) h
where w.wallet_id = h.wallet_id;

alter type db.hold_request add attribute calls_max int; -- 0 for a stream.
