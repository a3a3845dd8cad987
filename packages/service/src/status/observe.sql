-- Notes what a gateway process sees, every ten seconds and from every process. `p_silent_ms`: since this process last noted
-- anything; null the first time. `p_is_slow`: the database takes long. `p_out`: models that fail now. `p_models` and
-- `p_first_byte_ms`: how long streams took to begin in the last minute.
--
-- A time of more than a minute in which no process noted anything is an incident of the whole service. It was stopped, or had
-- no database. It is none if this very process was there all the time: then only the clock has moved.
--
-- An incident goes on while any process sees it, and ends when none has for 35 seconds: three passes, and time to write. What
-- comes back within five minutes is the same incident.
create or replace function status.observe(
  p_silent_ms float8, p_is_slow boolean, p_out text[], p_models text[], p_first_byte_ms float8[]
) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  at timestamptz;
  seen timestamptz;
  trouble record;
begin
  perform set_config('synchronous_commit', 'off', true); -- A crash loses the last pass, and the next one makes up for it.
  -- Processes wait for each other here, so that two do not begin the same incident.
  select s.seen_at into seen from status.service s for update;
  at := clock_timestamp();
  update status.service set seen_at = at;
  if seen < at - interval '1 minute' and coalesce(p_silent_ms > 60000, true) then
    insert into status.incidents (model, state, began_at, seen_at, ended_at) values ('', 'out', seen, at, at);
  end if;
  update status.incidents i set ended_at = i.seen_at
  where i.ended_at is null and i.seen_at < at - interval '35 seconds';
  for trouble in
    select '' as model, 'slow' as state where p_is_slow
    union all
    select o.model, 'out' from unnest(p_out) o (model)
    union all
    select m.model, 'slow' from unnest(p_models, p_first_byte_ms) m (model, ms)
    join status.usual u on u.model = m.model
    -- Twice as long as usual, and long enough to be noticed.
    where m.ms >= 2 * u.first_byte_ms and m.ms >= u.first_byte_ms + 1000 and m.model <> all (p_out)
  loop
    update status.incidents i set seen_at = at, ended_at = null
    where i.incident_id = (
        select max(l.incident_id) from status.incidents l where l.model = trouble.model and l.state = trouble.state
      )
      and coalesce(i.ended_at, at) > at - interval '5 minutes';
    if not found then
      insert into status.incidents (model, state, began_at, seen_at) values (trouble.model, trouble.state, at, at);
    end if;
  end loop;
  insert into status.usual as u (model, first_byte_ms, seen_at)
  select m.model, m.ms, at from unnest(p_models, p_first_byte_ms) m (model, ms)
  on conflict (model) do update set
    first_byte_ms = u.first_byte_ms + (excluded.first_byte_ms - u.first_byte_ms)
      * least(greatest(extract(epoch from at - u.seen_at), 0), 60) / 86400,
    seen_at = at;
  delete from status.incidents i where i.ended_at < at - interval '90 days';
  delete from status.usual u where u.seen_at < at - interval '90 days';
end $$;

revoke all on function status.observe from public;
grant execute on function status.observe to purser_live;
