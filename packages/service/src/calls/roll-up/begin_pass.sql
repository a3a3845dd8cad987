-- Whether it is the caller's turn to add what is new: true for one process at a time. If that one dies, another has its turn
-- after `p_period_ms`. With it, when a pass last ended, for the metrics of every process.
create or replace function stats.begin_pass(p_period_ms int) returns table (begun boolean, ended_seconds float8)
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update stats.passes p set due_at = clock_timestamp() + p_period_ms * interval '1 millisecond'
  where p.due_at <= clock_timestamp()
    or p.due_at > clock_timestamp() + interval '10 minutes'; -- The clock was set back.
  return query select found, extract(epoch from p.ended_at)::float8 from stats.passes p;
end $$;

revoke all on function stats.begin_pass from public;
grant execute on function stats.begin_pass to purser_live;
