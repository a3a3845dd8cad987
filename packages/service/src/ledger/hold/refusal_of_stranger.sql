-- What a call is told whose user has no wallet that is connected, if its key lets it that far (CC-10).
create or replace function ledger.refusal_of_stranger(p_app text, p_user text) returns text
language plpgsql as $$
begin
  return case when exists (select from ledger.leaving l where l.app_id = p_app and l.user_id = p_user)
    then 'user_elsewhere' else 'payment_required' end;
end $$;

revoke all on function ledger.refusal_of_stranger from public;
