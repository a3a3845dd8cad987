-- Merges the hours of the next day that is older than `p_kept_days` into the day's first hour. False when there is none, and
-- while a rebuild runs. What is added to such a day later stays in its hour; a series by day adds both.
create or replace function stats.merge_day(p_kept_days int) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  upto constant timestamptz := date_trunc('day', clock_timestamp() - p_kept_days * interval '1 day', 'UTC');
  day timestamptz;
  h record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('stats.roll_up', 0)) then
    return false;
  end if;
  -- Days without any calls are skipped.
  select date_trunc('day', min(m.hour), 'UTC') into day
  from stats.passes p
  cross join lateral (
    (select k.hour from stats.hours k where k.hour >= p.merged_until order by k.hour limit 1)
    union all
    (select k.hour from stats.keys k where k.hour >= p.merged_until order by k.hour limit 1)
  ) m;
  if day is null or day >= upto then
    return false;
  end if;
  for h in delete from stats.hours k where k.hour > day and k.hour < day + interval '24 hours' returning k.* loop
    insert into stats.hours as k (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens,
      completion_tokens, cost_micros, first_byte, total)
    values (h.app_id, h.mode, day, h.model, h.outcome, h.calls, h.charged_micros, h.prompt_tokens, h.completion_tokens,
      h.cost_micros, h.first_byte, h.total)
    on conflict (app_id, mode, hour, model, outcome) do update set
      calls = k.calls + excluded.calls,
      charged_micros = k.charged_micros + excluded.charged_micros,
      prompt_tokens = k.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = k.completion_tokens + excluded.completion_tokens,
      cost_micros = k.cost_micros + excluded.cost_micros,
      first_byte = stats.add(k.first_byte, excluded.first_byte),
      total = stats.add(k.total, excluded.total);
  end loop;
  for h in delete from stats.keys k where k.hour > day and k.hour < day + interval '24 hours' returning k.* loop
    insert into stats.keys as k (app_id, mode, hour, key_id, calls, charged_calls, charged_micros)
    values (h.app_id, h.mode, day, h.key_id, h.calls, h.charged_calls, h.charged_micros)
    on conflict (app_id, mode, hour, key_id) do update set
      calls = k.calls + excluded.calls,
      charged_calls = k.charged_calls + excluded.charged_calls,
      charged_micros = k.charged_micros + excluded.charged_micros;
  end loop;
  update stats.passes set merged_until = day + interval '24 hours';
  return true;
end $$;

revoke all on function stats.merge_day from public;
grant execute on function stats.merge_day to purser_live;
