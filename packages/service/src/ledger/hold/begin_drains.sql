-- Notes that the callers of these calls have left, and that the calls are read on for their charges. Nobody will get their
-- answers, so a retry by the same key runs anew rather than waiting for the end of the drain (CC-14).
--
-- Locks the wallets first, as every function that changes holds. A call that has ended, or was noted before, stays as it is.
create or replace function ledger.begin_drains(p_calls uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform from ledger.wallets w
  where w.wallet_id in (select h.wallet_id from ledger.holds h where h.call_id = any (p_calls))
  order by w.wallet_id for no key update;
  update ledger.holds h set drained_since = clock_timestamp(), key_digest = null, body_digest = null
  where h.call_id = any (p_calls) and h.is_stream and h.drained_since is null;
end $$;

revoke all on function ledger.begin_drains from public;
grant execute on function ledger.begin_drains to purser_live;
