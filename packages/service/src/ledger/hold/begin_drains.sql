-- Says of calls that their callers have left and they are read on. Locks the wallets first, as every function that changes
-- holds does; a call that has ended, and one that has been said of before, stays as it is. Nobody will get its answer, so a
-- retry by its key runs anew rather than waiting for the end of the drain.
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
