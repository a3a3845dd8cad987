-- Notes that the callers of these calls have left, and that the calls are read on for their charges. A call keeps its key: a
-- repeat joins it, and gets its answer if it comes to its end (CC-14).
--
-- Locks the wallets first, as every function that changes holds. A call that has ended, or was noted before, stays as it is.
create or replace function ledger.begin_drains(p_calls uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform from ledger.wallets w
  where w.wallet_id in (select h.wallet_id from ledger.holds h where h.call_id = any (p_calls))
  order by w.wallet_id for no key update;
  update ledger.holds h set drained_since = clock_timestamp()
  where h.call_id = any (p_calls) and h.is_stream and h.drained_since is null;
end $$;

revoke all on function ledger.begin_drains from public;
grant execute on function ledger.begin_drains to purser_live;
