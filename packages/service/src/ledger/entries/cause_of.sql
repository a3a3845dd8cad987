-- What an act is booked for. A key counts once for each wallet and kind of act, so no two acts share a cause, and the
-- ledger's unique (cause, kind) refuses what is booked twice.
create or replace function ledger.cause_of(p_wallet bigint, p_kind ledger.entry_kind, p_key text) returns text
language sql immutable parallel safe as $$
  select case p_kind when 'contract_credit' then 'contract' else p_kind::text end || ':' || p_wallet || ':' || p_key
$$;

revoke all on function ledger.cause_of from public;
