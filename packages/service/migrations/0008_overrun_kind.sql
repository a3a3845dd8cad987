-- What a provider bills above a call's hold: the operator's loss, never the wallet's (WA-07). In a file of its own, because
-- a new value of an enum may be used only once it is committed. Locks: none that matter.

alter type ledger.entry_kind add value 'charge_overrun';
