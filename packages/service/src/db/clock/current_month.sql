-- The calendar month of this moment in UTC, as its first day (WA-08). Caps and holds of all processes use this one clock. A
-- step of the clock begins no month until it has lasted for an hour, see db.observe_clock.
create or replace function db.current_month() returns date
language plpgsql volatile parallel safe set search_path = pg_catalog as $$
declare
  at constant timestamptz := db.wall_clock();
begin
  return (
    select date_trunc('month', (
      c.trusted_at + case when at between c.seen_at and c.seen_at + interval '1 minute' then at - c.seen_at else '0' end
    ) at time zone 'UTC')::date
    from db.clock c
  );
end $$;

revoke all on function db.current_month from public;
grant execute on function db.current_month to purser_live;
