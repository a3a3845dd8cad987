-- Each fills up within an hour: one that nobody has used for a day says no more than one that is not there.
create or replace function limits.forget_tries(p_buckets_max int) returns void
language sql security definer set search_path = pg_catalog as $$
  delete from limits.buckets where app_id in (
    select b.app_id from limits.buckets b
    where b.app_id like '%:%'
      and b.refilled_at_us < (extract(epoch from clock_timestamp() - interval '1 day') * 1000000)::bigint
    limit p_buckets_max
  );
$$;

revoke all on function limits.forget_tries from public;
grant execute on function limits.forget_tries to purser_live;
