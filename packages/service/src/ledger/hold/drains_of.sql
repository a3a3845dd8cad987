-- The oldest drains of a wallet, as many as a new stream needs the slots of, or as there are (LI-02). A drain that a retry
-- waits for has a caller again, and keeps its slot (CC-14).
create or replace function ledger.drains_of(p_wallet bigint, p_most int, p_joined uuid[]) returns uuid[]
language plpgsql as $$
begin
  return array(
    select h.call_id from ledger.holds h
    where h.wallet_id = p_wallet and h.is_stream and h.drained_since is not null
      and not h.is_joined and h.call_id <> all (p_joined)
    order by h.drained_since, h.call_id limit p_most
  );
end $$;

revoke all on function ledger.drains_of from public;
