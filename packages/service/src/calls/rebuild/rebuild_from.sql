-- The first UTC day that a rebuild may make again, at or after one: the receipts of all its calls are here and not in an archive.
create or replace function stats.rebuild_from(p_from timestamptz) returns timestamptz
language sql stable security definer set search_path = pg_catalog as $$
  select greatest(p_from,
    (select date_trunc('day', max(m.last_settled_at), 'UTC') + interval '24 hours' from ledger.months m where m.detached_at is not null))
$$;

revoke all on function stats.rebuild_from from public;
