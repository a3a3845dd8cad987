-- The entries of a wallet after one, from its journal and its receipts, with what each moves. Receipts of calls before
-- `from_call` are not looked for. Each half is ordered, so that new rows are found by the index of numbers and by no other,
-- for any guess of the planner. PostgreSQL takes this function into ledger.check_changes.
create or replace function ledger.entries_after(p_wallet bigint, p_seq bigint, p_month date, from_call uuid) returns table (
  seq bigint, after bigint, amount bigint, change bigint, owed bigint, spent bigint, is_astray boolean, charged_call text
)
language sql stable as $$
  (select j.seq, j.balance_after_micros, j.amount_micros, ledger.added_to_wallet(j.debit, j.credit, j.amount_micros),
    ledger.added_to_receivable(j.debit, j.credit, j.amount_micros), 0::bigint,
    j.debit is distinct from ledger.debit_of(j.kind) or j.credit is distinct from ledger.credit_of(j.kind),
    case when j.kind in ('charge', 'charge_receivable') then j.cause end
  from ledger.journal j where j.wallet_id = p_wallet and j.seq > p_seq order by j.seq)
  union all
  (select r.seq, r.balance_after_micros, r.charged_micros, -r.charged_micros, 0,
    case when r.month = p_month then r.charged_micros else 0 end, false, null
  from usage.calls r where r.wallet_id = p_wallet and r.seq > p_seq and r.call_id >= from_call order by r.seq)
  offset 0
$$;

revoke all on function ledger.entries_after from public;
