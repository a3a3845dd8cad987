-- Whether entries of this kind have a key that counts once for the wallet, in all cells together, see ledger.cause_of.
create or replace function ledger.is_act(p_kind ledger.entry_kind) returns boolean
language sql immutable parallel safe as $$
  select p_kind in ('top_up', 'contract_credit', 'funds_reinstated', 'refund', 'refund_receivable', 'claw_back', 'claw_back_receivable',
    'refund_set_aside', 'refund_paid', 'refund_released')
$$;

revoke all on function ledger.is_act from public;
