-- Puts what a rebuild has read into the sums of one day, in one transaction.
--
-- Charged live calls are replaced: the receipts are right. All else was counted in memory, and traces may lack some of it,
-- because they were switched off or the database did not take them. So a count there only ever grows. Latencies stay.
create or replace function stats.replace_day(p_day timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update stats.hours h set calls = 0, charged_micros = 0, prompt_tokens = 0, completion_tokens = 0, cost_micros = 0
  where h.hour >= p_day and h.hour < p_day + interval '24 hours' and h.mode = 'live' and h.outcome = 'charged'
    and not exists (
      select from stats.rebuilt r
      where (r.hour, r.app_id, r.mode, r.model, r.outcome) = (h.hour, h.app_id, h.mode, h.model, h.outcome)
    );
  insert into stats.hours as h (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens, completion_tokens,
    cost_micros)
  select r.app_id, r.mode, r.hour, r.model, r.outcome, r.calls, r.charged_micros, r.prompt_tokens, r.completion_tokens,
    r.cost_micros
  from stats.rebuilt r
  where r.hour >= p_day and r.hour < p_day + interval '24 hours'
  order by r.app_id, r.mode, r.hour, r.model, r.outcome
  on conflict (app_id, mode, hour, model, outcome) do update set
    calls = excluded.calls,
    charged_micros = excluded.charged_micros,
    prompt_tokens = excluded.prompt_tokens,
    completion_tokens = excluded.completion_tokens,
    cost_micros = excluded.cost_micros
  where excluded.calls > h.calls or h.mode = 'live' and h.outcome = 'charged';
  delete from stats.hours h
  where h.hour >= p_day and h.hour < p_day + interval '24 hours' and h.calls = 0 and h.total is null;
end $$;

revoke all on function stats.replace_day from public;
