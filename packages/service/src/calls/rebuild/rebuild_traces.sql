-- Reads up to `p_most` traces after one, and sums those that ended in a time in stats.rebuilt: all but charged live calls,
-- which receipts bring. Only hours to which nobody adds any more. It returns one row: the trace to go on after, null when
-- none is left, and how many calls there were.
create or replace function stats.rebuild_traces(p_after bigint, p_most int, p_from timestamptz, p_to timestamptz)
returns table (last_trace bigint, calls bigint)
language plpgsql volatile security definer set search_path = pg_catalog set jit = off as $$
#variable_conflict use_column
begin
  return query
  with page as materialized (
    select t.* from traces.calls t where t.trace_id > p_after order by t.trace_id limit p_most
  ), ended as (
    select p.*, case when p.charged_micros > 0 then 'charged' when p.outcome = 'replayed' then 'replayed'
      else coalesce(p.code, case when p.outcome = 'answered' then 'free' else 'abandoned' end) end as became
    from page p
    where p.ended_at >= p_from and p.ended_at < p_to
      and p.ended_at < date_trunc('hour', clock_timestamp() - interval '10 minutes', 'UTC')
      and not (p.mode = 'live' and p.charged_micros > 0)
  ), summed as (
    insert into stats.rebuilt as r (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens, completion_tokens)
    select e.app_id, e.mode,
      date_trunc(case when e.ended_at < s.merged_until then 'day' else 'hour' end, e.ended_at, 'UTC'),
      coalesce(e.model, ''), e.became,
      count(*), sum(e.charged_micros), sum(e.prompt_tokens), sum(e.completion_tokens)
    from ended e, stats.passes s
    group by e.app_id, e.mode, 3, 4, e.became
    on conflict (hour, app_id, mode, model, outcome) do update set
      calls = r.calls + excluded.calls,
      charged_micros = r.charged_micros + excluded.charged_micros,
      prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = r.completion_tokens + excluded.completion_tokens
  )
  select case when count(*) = p_most then max(p.trace_id) end, (select count(*) from ended) from page p;
end $$;

revoke all on function stats.rebuild_traces from public;
