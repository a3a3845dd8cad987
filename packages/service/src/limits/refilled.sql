-- What lies in a bucket some microseconds later. The time counts for no longer than a full refill takes, so that the
-- product stays far below the range of a bigint.
create or replace function limits.refilled(p_units bigint, p_full bigint, p_per_minute int, p_us bigint) returns bigint
language sql immutable as $$
  select least(p_full, p_units + p_per_minute * least(p_us, p_full / p_per_minute + 1))
$$;

revoke all on function limits.refilled from public;
