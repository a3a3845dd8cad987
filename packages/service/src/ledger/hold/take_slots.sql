-- Takes the slots of drains for a stream that is placed (LI-02). A drain keeps its hold until its process settles it, but is
-- no stream any more.
create or replace function ledger.take_slots(p_wallet bigint, p_drains uuid[]) returns void
language plpgsql as $$
begin
  update ledger.holds h set is_stream = false where h.call_id = any (p_drains);
  update ledger.wallets w set open_streams = w.open_streams - cardinality(p_drains) where w.wallet_id = p_wallet;
end $$;

revoke all on function ledger.take_slots from public;
