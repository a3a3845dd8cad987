-- A moment as the wire has it: ISO 8601, UTC, to the millisecond.
create or replace function webhooks.instant(p_at timestamptz) returns text
language sql immutable parallel safe as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

revoke all on function webhooks.instant from public;
grant execute on function webhooks.instant to purser_live;
