-- The book that money enters by an entry of this kind, see debit_of.
create or replace function ledger.credit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe as $$
  select case
    when p_kind in ('charge', 'charge_receivable', 'charge_overrun', 'charge_lost', 'given_up') then 'earned'::ledger.book
    when p_kind in ('refund', 'refund_receivable', 'claw_back', 'claw_back_receivable', 'refund_paid') then 'processor'
    when p_kind in ('recovery', 'write_off', 'owed_out') then 'receivable'
    when p_kind in ('top_up', 'funds_reinstated', 'contract_credit', 'refund_released', 'moved_in') then 'wallet'
    when p_kind = 'refund_set_aside' then 'outgoing'
    when p_kind in ('moved_out', 'owed_in') then 'cells'
  end
$$;

revoke all on function ledger.credit_of from public;
