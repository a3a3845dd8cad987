-- Removes buckets of attempts (sign-ins, registrations, resets) that nobody has used for a day. Anybody can make one by an
-- attempt. Each is full again within an hour, so one that is not there says the same. Their names hold a colon, which no
-- app's id has.
create or replace function limits.delete_idle_buckets(p_buckets_max int) returns void
language sql security definer set search_path = pg_catalog as $$
  delete from limits.buckets where app_id in (
    select b.app_id from limits.buckets b
    where b.app_id like '%:%'
      and b.refilled_at_us < (extract(epoch from db.wall_clock() - interval '1 day') * 1000000)::bigint
    limit p_buckets_max
  );
$$;

revoke all on function limits.delete_idle_buckets from public;
grant execute on function limits.delete_idle_buckets to purser_live;
