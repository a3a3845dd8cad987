-- Books one movement of a wallet that the caller has locked: the entry, and what it does to the wallet. All money moves
-- here except the charges of calls, which are booked by their receipts.
create or replace function ledger.move(p_wallet bigint, p_kind ledger.entry_kind, p_cause text, p_amount bigint) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  debit constant ledger.book := ledger.debit_of(p_kind);
  credit constant ledger.book := ledger.credit_of(p_kind);
  change constant bigint := case when credit = 'wallet' then p_amount when debit = 'wallet' then -p_amount else 0 end;
  owed constant bigint := case when debit = 'receivable' then p_amount when credit = 'receivable' then -p_amount else 0 end;
  moved ledger.wallets;
begin
  update ledger.wallets w set
    balance_micros = w.balance_micros + change,
    shortfall_micros = w.shortfall_micros + owed,
    is_suspended = w.is_suspended or owed > 0,
    is_clawed = w.held_micros > w.balance_micros + change,
    entry_seq = w.entry_seq + 1,
    version = w.version + 1
  where w.wallet_id = p_wallet
  returning * into strict moved;
  insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
  values (p_wallet, moved.entry_seq, p_kind, p_cause, debit, credit, p_amount, moved.balance_micros);
end $$;

revoke all on function ledger.move from public;
