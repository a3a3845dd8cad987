-- Makes an empty table for the receipts of a detached month, which is no part of usage.calls yet. What an earlier restore left there
-- goes.
create or replace function ledger.begin_restore(p_month date) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  made constant text := ledger.receipts_of(p_month);
begin
  -- Locked, so that a restore that ends now ends first. Its table would be dropped with the receipts of the whole otherwise.
  perform from ledger.months m where m.month = p_month and m.detached_at is not null for update;
  if not found then
    raise exception 'the month is not detached';
  end if;
  execute format('drop table if exists %s', made);
  execute format('create table %s (like usage.calls including defaults including constraints including indexes)', made);
  execute format('create unique index %s on %s (wallet_id, seq) where seq is not null', split_part(made, '.', 2) || '_entries', made);
end $$;

revoke all on function ledger.begin_restore from public;
