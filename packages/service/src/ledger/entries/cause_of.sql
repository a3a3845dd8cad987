-- What an act is booked for. `p_key` counts once for each wallet and action, so that no two acts share a cause.
create or replace function ledger.cause_of(p_wallet bigint, p_kind ledger.entry_kind, p_key text) returns text
language sql immutable parallel safe as $$
  select case p_kind when 'contract_credit' then 'contract' else p_kind::text end || ':' || p_wallet || ':' || p_key
$$;

revoke all on function ledger.cause_of from public;
