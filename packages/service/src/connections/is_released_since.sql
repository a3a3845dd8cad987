-- True if the wallet of an (app, user) was released from its owner after p_since (null: the begin of the transaction), or is released while this waits. Keeps the owner of
-- today until the transaction ends: a release and a deletion take this row, so they either wait, or were first and are seen here.
create or replace function connections.is_released_since(p_app text, p_user text, p_since timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  was_owned boolean;
  is_owned boolean;
begin
  was_owned := exists (select from connections.connections c where c.app_id = p_app and c.user_id = p_user);
  perform from connections.connections c where c.app_id = p_app and c.user_id = p_user for key share;
  is_owned := found;
  return was_owned and not is_owned or exists (
    select from connections.releases r where r.app_id = p_app and r.user_id = p_user and r.released_at > coalesce(p_since, now())
  );
end $$;

revoke all on function connections.is_released_since from public;
grant execute on function connections.is_released_since to purser_live;
