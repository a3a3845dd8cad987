-- The connection of a wallet that is leaving this cell, or has left it, stays as it was copied. It is not released either.
create or replace function connections.refuse_leaving() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform ledger.refuse_leaving(new.app_id, new.user_id);
  return new;
end $$;

revoke all on function connections.refuse_leaving from public;

create or replace trigger connections_here before insert or update on connections.connections
  for each row execute function connections.refuse_leaving();
create or replace trigger releases_here before insert or update on connections.releases
  for each row execute function connections.refuse_leaving();
