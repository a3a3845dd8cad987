-- When the last call ended whose receipt is in an archive and not here. Null if there is none.
create or replace function usage.archived_until() returns timestamptz
language sql stable security definer set search_path = pg_catalog as $$
  select max(m.last_settled_at) from ledger.months m where m.detached_at is not null
$$;

revoke all on function usage.archived_until from public;
grant execute on function usage.archived_until to purser_live;
