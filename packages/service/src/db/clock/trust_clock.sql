-- Takes the clock at its word when the first gateway starts after a pause: nobody has watched the clock meanwhile, and the
-- time that has passed is no step. Does nothing while another gateway runs.
create or replace function db.trust_clock() returns void
language sql security definer set search_path = pg_catalog as $$
  update db.clock c set trusted_at = w.at, seen_at = w.at, steady_since = w.at
  from (select db.wall_clock() as at) w
  where w.at not between c.seen_at - interval '2 seconds' and c.seen_at + interval '1 minute'
    and not exists (select from db.instances i where i.state = 'live' and i.lease_until > w.at)
$$;

revoke all on function db.trust_clock from public;
grant execute on function db.trust_clock to purser_live;
