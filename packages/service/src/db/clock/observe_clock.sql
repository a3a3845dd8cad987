-- Looks at the clock, every few seconds and from every gateway. A clock that has moved by no more than a minute since it was
-- last looked at has run on, and the trusted time runs on with it. Anything else is a step, or the machine slept: the
-- trusted time stands still, then runs on from where it was, and takes over the clock when that has been steady for an
-- hour.
create or replace function db.observe_clock() returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  at constant timestamptz := db.wall_clock();
begin
  perform set_config('synchronous_commit', 'off', true); -- After a crash, the next look counts from an earlier one.
  update db.clock c set
    seen_at = at,
    steady_since = case when at between c.seen_at and c.seen_at + interval '1 minute' then c.steady_since else at end,
    trusted_at = case
      when at not between c.seen_at and c.seen_at + interval '1 minute' then c.trusted_at
      when at >= c.steady_since + interval '1 hour' then at
      else c.trusted_at + (at - c.seen_at)
    end
  -- Two gateways may look at once: the one that has waited for the other's row is not a step back.
  where at not between c.seen_at - interval '2 seconds' and c.seen_at + interval '2 seconds';
end $$;

revoke all on function db.observe_clock from public;
grant execute on function db.observe_clock to purser_live;
