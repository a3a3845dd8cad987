-- What a key is cannot change once it is made: its app, mode, digest, user, window, line and whether it may reset test users
-- (AU-07, SB-07, CP-08). Its name, expiry and
-- limits can. A revoked key stays revoked.
create or replace function accounts.refuse_key_change() returns trigger language plpgsql as $$
begin
  if (new.key_id, new.app_id, new.digest, new.mode, new.bound_user, new.join_seconds, new.may_reset, new.rolled_from,
    new.counts_as)
    is distinct from
    (old.key_id, old.app_id, old.digest, old.mode, old.bound_user, old.join_seconds, old.may_reset, old.rolled_from,
    old.counts_as)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at) then
    raise exception 'what an API key is cannot be changed, only revoked';
  end if;
  return new;
end $$;

revoke all on function accounts.refuse_key_change from public;

create or replace trigger api_keys_fixed before update on accounts.api_keys
  for each row execute function accounts.refuse_key_change();
