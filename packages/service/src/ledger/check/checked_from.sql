-- Notes that the check has been over all receipts of calls before this one and found the books right: each wallet's checkpoint is
-- after them. Never goes back.
create or replace function ledger.checked_from(p_call uuid) returns void
language sql security definer set search_path = pg_catalog as $$
  update ledger.last_check l set from_call = least(p_call, ledger.open_from()) where l.from_call < least(p_call, ledger.open_from())
$$;

revoke all on function ledger.checked_from from public;
grant execute on function ledger.checked_from to purser_live;
