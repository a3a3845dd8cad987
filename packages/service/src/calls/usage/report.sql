-- What an app's users used, by the UTC day on which calls ended, in the order of day, model and user, after a row (CP-04).
-- What is not grouped by is null, and '' in the name of the row before.
--
-- Each wallet is summed up by itself, by its index. So only calls of this app are read, of these months and the one before,
-- and only sums are kept.
create or replace function usage.report(
  p_app text, p_from date, p_to date, p_by_day boolean, p_by_model boolean, p_by_user boolean,
  p_after_day text, p_after_model text, p_after_user text, p_most int
) returns table (
  day text, model text, user_id text, requests bigint, prompt_tokens bigint, completion_tokens bigint, charged_micros bigint
)
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select u.* from (
    select c.day, c.model, case when p_by_user then w.user_id end as user_id,
      sum(c.requests)::bigint as requests, sum(c.prompt_tokens)::bigint as prompt_tokens,
      sum(c.completion_tokens)::bigint as completion_tokens, sum(c.charged_micros)::bigint as charged_micros
    from ledger.wallets w
    cross join lateral (
      select case when p_by_day then (k.settled_at at time zone 'UTC')::date::text end as day,
        case when p_by_model then k.model end as model, count(*) as requests, sum(k.prompt_tokens) as prompt_tokens,
        sum(k.completion_tokens) as completion_tokens, sum(k.charged_micros) as charged_micros
      from usage.calls k
      where k.wallet_id = w.wallet_id and k.outcome in ('answered', 'abandoned')
        and k.settled_at >= p_from::timestamp at time zone 'UTC' and k.settled_at < p_to::timestamp at time zone 'UTC'
        -- For the index: a call ends in the month of its hold or in the next.
        and k.month >= date_trunc('month', p_from::timestamp) - interval '1 month' and k.month < p_to
      group by 1, 2
    ) c
    where w.app_id = p_app
    group by 1, 2, 3
  ) u
  where (coalesce(u.day, '') collate "C", coalesce(u.model, '') collate "C", coalesce(u.user_id, '') collate "C")
    > (p_after_day, p_after_model, p_after_user)
  order by coalesce(u.day, '') collate "C", coalesce(u.model, '') collate "C", coalesce(u.user_id, '') collate "C"
  limit p_most;
$$;

revoke all on function usage.report from public;
grant execute on function usage.report to purser_live;
