-- What an app's owner asks about usage (CP-04). Locks: usage.calls against writing, for as long as its index takes.

create index calls_correlation on usage.calls (correlation_id);

-- What an app's users used, by the UTC day on which calls ended, in the order of day, model and user, after a row. What is
-- not grouped by is null, and '' in the name of the row before.
create function usage.report(
  p_app text, p_from date, p_to date, p_by_day boolean, p_by_model boolean, p_by_user boolean,
  p_after_day text, p_after_model text, p_after_user text, p_most int
) returns table (
  day text, model text, user_id text, requests bigint, prompt_tokens bigint, completion_tokens bigint, charged_micros bigint
)
language sql stable security definer set search_path = pg_catalog as $$
  select u.* from (
    select case when p_by_day then (c.settled_at at time zone 'UTC')::date::text end as day,
      case when p_by_model then c.model end as model, case when p_by_user then w.user_id end as user_id,
      count(*) as requests, sum(c.prompt_tokens)::bigint as prompt_tokens,
      sum(c.completion_tokens)::bigint as completion_tokens, sum(c.charged_micros)::bigint as charged_micros
    from ledger.wallets w join usage.calls c on c.wallet_id = w.wallet_id
    where w.app_id = p_app and c.outcome in ('answered', 'abandoned')
      and c.settled_at >= p_from::timestamp at time zone 'UTC' and c.settled_at < p_to::timestamp at time zone 'UTC'
      -- For the index: a call ends in the month of its hold or soon after.
      and c.month >= date_trunc('month', p_from) - interval '1 month' and c.month < p_to
    group by 1, 2, 3
  ) u
  where (coalesce(u.day, '') collate "C", coalesce(u.model, '') collate "C", coalesce(u.user_id, '') collate "C")
    > (p_after_day, p_after_model, p_after_user)
  order by coalesce(u.day, '') collate "C", coalesce(u.model, '') collate "C", coalesce(u.user_id, '') collate "C"
  limit p_most;
$$;

-- Receipts of an app by call or by correlation id, the newest first, with the price that each was charged by.
create function usage.receipts(p_app text, p_call uuid, p_correlation text, p_most int) returns table (
  call_id uuid, correlation_id text, user_id text, model text, settled_at timestamptz, outcome text, is_estimated boolean,
  prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint, reasoning_tokens bigint,
  held_micros bigint, charged_micros bigint, price_id bigint,
  input_micros_per_million bigint, cached_input_micros_per_million bigint, output_micros_per_million bigint,
  margin_basis_points int
)
language sql stable security definer set search_path = pg_catalog as $$
  select c.call_id, c.correlation_id, w.user_id, c.model, c.settled_at, c.outcome, c.is_estimated,
    c.prompt_tokens, c.cached_tokens, c.completion_tokens, c.reasoning_tokens, c.held_micros, c.charged_micros,
    c.price_id, p.input_micros_per_million, p.cached_input_micros_per_million, p.output_micros_per_million,
    p.margin_basis_points
  from usage.calls c
  join ledger.wallets w on w.wallet_id = c.wallet_id
  left join catalogue.prices p on p.price_id = c.price_id
  where w.app_id = p_app and (c.call_id = p_call or c.correlation_id = p_correlation)
  order by c.call_id desc
  limit p_most;
$$;

revoke all on function usage.report, usage.receipts from public;
grant execute on function usage.report, usage.receipts to purser_live;
