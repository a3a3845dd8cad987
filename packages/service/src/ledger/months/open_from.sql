-- The least id that a call of an open month may have. All receipts of calls before it are there, and committed: see
-- ledger.bar_month.
create or replace function ledger.open_from() returns uuid
language sql stable security definer set search_path = pg_catalog as $$
  select coalesce(
    (select m.before_call from ledger.months m where m.closed_at is not null order by m.month desc limit 1),
    '00000000-0000-0000-0000-000000000000'
  )
$$;

revoke all on function ledger.open_from from public;
grant execute on function ledger.open_from to purser_live;
