-- The calendar month of this moment in UTC, as its first day (WA-08). Caps and holds of all processes use this one clock.
create or replace function db.current_month() returns date
language sql volatile parallel safe as $$
  select date_trunc('month', clock_timestamp() at time zone 'UTC')::date
$$;

revoke all on function db.current_month from public;
grant execute on function db.current_month to purser_live;
