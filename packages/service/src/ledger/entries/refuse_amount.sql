-- An amount of nothing, or of less, is a mistake of the caller.
create or replace function ledger.refuse_amount(p_amount bigint) returns void language plpgsql as $$
begin
  if p_amount is null or p_amount <= 0 then
    raise exception 'an amount is above zero' using errcode = '23514';
  end if;
end $$;

revoke all on function ledger.refuse_amount from public;
