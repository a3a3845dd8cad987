-- The book that money leaves by an entry of this kind.
--
-- The first case is written in the type itself. As text that is cast, the cases would not be immutable, and PostgreSQL
-- would call the function for every entry rather than take it into the statement.
create or replace function ledger.debit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe as $$
  select case
    when p_kind in ('charge', 'refund', 'claw_back', 'recovery', 'refund_set_aside', 'moved_out', 'given_up') then 'wallet'::ledger.book
    when p_kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable', 'owed_in') then 'receivable'
    when p_kind in ('top_up', 'funds_reinstated') then 'processor'
    when p_kind in ('refund_paid', 'refund_released') then 'outgoing'
    when p_kind = 'contract_credit' then 'contract'
    when p_kind in ('write_off', 'charge_overrun', 'charge_lost') then 'loss'
    when p_kind in ('moved_in', 'owed_out') then 'cells'
  end
$$;

revoke all on function ledger.debit_of from public;
