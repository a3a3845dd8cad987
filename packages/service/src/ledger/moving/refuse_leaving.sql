-- Refuses an act on a wallet that is leaving this cell or has left it. A transaction that has come by here keeps ledger.leave waiting until it
-- ends. `cells/moving/moving-fault.ts` tells the refusal by its code.
create or replace function ledger.refuse_leaving(p_app text, p_user text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform from ledger.wallets w where w.app_id = p_app and w.user_id = p_user for key share;
  if exists (select from ledger.leaving l where l.app_id = p_app and l.user_id = p_user) then
    raise exception 'the user of this wallet is given to another cell' using errcode = 'PC002';
  end if;
end $$;

revoke all on function ledger.refuse_leaving from public;
