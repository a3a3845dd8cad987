-- Takes tokens without leasing any: for tries. What others have leased counts as taken.
create or replace function limits.take(p_app text[], p_wanted int[], p_per_minute int[], p_burst int[])
returns table (app_id text, granted int, tokens_left int, wait_ms int)
language sql security definer set search_path = pg_catalog as $$
  select t.app_id, t.granted, floor(t.tokens_left)::int, t.wait_ms
  from limits.lease_tokens(
    null, p_app, p_per_minute, p_burst, p_wanted,
    array_fill(0, array[cardinality(p_app)]), array_fill(0, array[cardinality(p_app)]), array_fill(0, array[cardinality(p_app)])
  ) t
$$;

revoke all on function limits.take from public;
grant execute on function limits.take to purser_live;
