-- The least id that a call has which begins in a month, or later. An id begins with the time, in milliseconds (RFC 9562).
create or replace function ledger.first_call(p_month date) returns uuid
language sql immutable parallel safe as $$
  select (lpad(to_hex((extract(epoch from p_month::timestamp at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

revoke all on function ledger.first_call from public;
