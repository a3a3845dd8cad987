-- What a person who is deleted has left in a wallet, less than the smallest amount that can be paid back, and gives up (CP-12).
alter type ledger.entry_kind add value 'given_up';
