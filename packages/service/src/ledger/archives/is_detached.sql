-- True if the receipt with this id, if there ever was one, is in an archive and not here: its month is detached.
create or replace function ledger.is_detached(p_receipt uuid) returns boolean
language sql stable set search_path = pg_catalog as $$
  select exists (
    select from ledger.months m
    where m.detached_at is not null and p_receipt < m.before_call and (m.from_call is null or p_receipt >= m.from_call)
  )
$$;

revoke all on function ledger.is_detached from public;
