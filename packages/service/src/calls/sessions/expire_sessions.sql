-- Looks at the next `p_most` sessions after one, in the order in which they began, and removes those whose last call was longer ago than
-- calls can be looked up (CP-19). Gives the last that it looked at; null at the end. There is no index by last call: every call would pay for it.
create or replace function usage.expire_sessions(p_after bigint, p_most int, p_kept_ms double precision) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
  last_seen bigint;
begin
  select max(q.session_id) into last_seen from (
    select s.session_id from usage.sessions s where s.session_id > p_after order by s.session_id limit p_most
  ) q;
  with gone as (
    delete from usage.sessions s where s.session_id in (
      select e.session_id from usage.sessions e
      where e.session_id > p_after and e.session_id <= last_seen
        and e.last_at < clock_timestamp() - p_kept_ms * interval '1 millisecond'
      for update skip locked -- One that is locked is in use.
    )
    returning s.session_id
  )
  delete from usage.session_calls c using gone g where c.session_id = g.session_id;
  return last_seen;
end $$;

revoke all on function usage.expire_sessions from public;
grant execute on function usage.expire_sessions to purser_live;
