-- What this server's clock says, for rules that must outlive a step of it: rate buckets and the month of a cap. A function,
-- so that a test can set it. PostgreSQL takes it into the statements that call it.
create or replace function db.wall_clock() returns timestamptz
language sql volatile parallel safe as $$
  select clock_timestamp()
$$;

revoke all on function db.wall_clock from public;
grant execute on function db.wall_clock to purser_live;
