-- Notes that the owner of a wallet is deleted. Calls that ended before are not theirs who own it next, see ledger.settle_late.
create or replace function ledger.forget_owner(p_app text, p_user text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform ledger.refuse_leaving(p_app, p_user);
  update ledger.wallets w set owner_deleted_at = clock_timestamp(), version = w.version + 1
  where w.app_id = p_app and w.user_id = p_user;
end $$;

revoke all on function ledger.forget_owner from public;
grant execute on function ledger.forget_owner to purser_live;
