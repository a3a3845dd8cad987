-- What an app's owner asks about usage (CP-04). Locks: usage.calls against writing, for as long as its index takes.

-- In the order in which the newest are asked for: an id that a client gives to all its calls is not read to its end.
create index calls_correlation on usage.calls (correlation_id, call_id);

-- What an app's users used, by the UTC day on which calls ended, in the order of day, model and user, after a row. What is
-- not grouped by is null, and '' in the name of the row before. Each wallet is summed up by itself, by its index: what is
-- read are calls of this app, of these months and the one before, and what is kept are sums.
create function usage.report(
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

-- Receipts of an app by call or by correlation id, the newest first, with the price that each was charged by.
create function usage.receipts(p_app text, p_call uuid, p_correlation text, p_most int) returns table (
  call_id uuid, correlation_id text, user_id text, model text, settled_at timestamptz, outcome text, is_estimated boolean,
  prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint, reasoning_tokens bigint,
  held_micros bigint, charged_micros bigint, price_id bigint,
  input_micros_per_million bigint, cached_input_micros_per_million bigint, output_micros_per_million bigint,
  margin_basis_points int
)
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select c.call_id, c.correlation_id, w.user_id, c.model, c.settled_at, c.outcome, c.is_estimated,
    c.prompt_tokens, c.cached_tokens, c.completion_tokens, c.reasoning_tokens, c.held_micros, c.charged_micros,
    c.price_id, p.input_micros_per_million, p.cached_input_micros_per_million, p.output_micros_per_million,
    p.margin_basis_points
  from (
    select k.* from usage.calls k where k.call_id = p_call
    union all
    (
      select k.* from usage.calls k
      where k.correlation_id = p_correlation
        and exists (select from ledger.wallets v where v.wallet_id = k.wallet_id and v.app_id = p_app)
      order by k.call_id desc limit p_most
    )
  ) c
  join ledger.wallets w on w.wallet_id = c.wallet_id
  left join catalogue.prices p on p.price_id = c.price_id
  where w.app_id = p_app
  order by c.call_id desc
  limit p_most;
$$;

revoke all on function usage.report, usage.receipts from public;
grant execute on function usage.report, usage.receipts to purser_live;
