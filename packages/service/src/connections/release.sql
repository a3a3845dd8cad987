-- Ends the ownership of the wallet of an (app, user) and notes when, so that links from before are refused (WA-15). Returns
-- the connection as it was, or no row if nobody owns the wallet. The service itself may not remove connections.
create or replace function connections.release(p_app text, p_user text)
returns table (identity_id text, is_paused boolean, cap_before_pause_micros bigint)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
begin
  return query
    delete from connections.connections c where c.app_id = p_app and c.user_id = p_user
    returning c.identity_id, c.is_paused, c.cap_before_pause_micros;
  if found then
    insert into connections.releases (app_id, user_id) values (p_app, p_user)
    on conflict (app_id, user_id) do update set released_at = clock_timestamp(), is_deletion = false;
  end if;
end $$;

revoke all on function connections.release from public;
grant execute on function connections.release to purser_live;
