-- True if money that was on its way to the wallet of an (app, user) since p_since is now for nobody: its owner was deleted after
-- that, or was the last one. Keeps the owner of today from being deleted until the transaction ends: the deletion takes this row,
-- so it either waits and finds the money, or was first and is seen here.
create or replace function connections.is_owner_deleted(p_app text, p_user text, p_since timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  is_owned boolean;
begin
  perform from connections.connections c where c.app_id = p_app and c.user_id = p_user for key share;
  is_owned := found;
  return exists (
    select from connections.releases r
    where r.app_id = p_app and r.user_id = p_user and r.is_deletion and (not is_owned or r.released_at > p_since)
  );
end $$;

revoke all on function connections.is_owner_deleted from public;
grant execute on function connections.is_owner_deleted to purser_live;
