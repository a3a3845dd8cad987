-- What a key is cannot change once it is made: its app, its mode and its digest (AU-07). It can only be revoked.
create or replace function accounts.refuse_key_change() returns trigger language plpgsql as $$
begin
  if (new.key_id, new.app_id, new.digest, new.mode) is distinct from (old.key_id, old.app_id, old.digest, old.mode) then
    raise exception 'an API key cannot be changed, only revoked';
  end if;
  return new;
end $$;

revoke all on function accounts.refuse_key_change from public;

create or replace trigger api_keys_fixed before update on accounts.api_keys
  for each row execute function accounts.refuse_key_change();
