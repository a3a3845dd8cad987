-- What calls of some wallets used upstream, by UTC day and price: of up to `p_most` wallets after one. Every call that a provider
-- served counts, also those that nobody paid for. It returns the wallet to go on after in each row; no row when no wallet is
-- left. A row without a price is a page without such calls.
--
-- Each wallet is read by its index, and only of these months: a call ends in the month of its hold or in the next.
create or replace function usage.billed(p_after bigint, p_most int, p_from timestamptz, p_to timestamptz) returns table (
  last_wallet bigint, day text, price_id bigint, is_charged boolean, calls bigint,
  input_tokens bigint, cached_tokens bigint, cache_write_tokens bigint, output_tokens bigint, rare_calls bigint
)
language sql stable security definer set search_path = pg_catalog set enable_seqscan = off set jit = off as $$
  with page as materialized (
    select w.wallet_id from ledger.wallets w where w.wallet_id > p_after order by w.wallet_id limit p_most
  )
  select (select max(p.wallet_id) from page p), s.*
  from (select 1 from page limit 1) one
  left join (
    select (c.settled_at at time zone 'UTC')::date::text as day, c.price_id, c.charged_micros > 0 as is_charged, count(*) as calls,
      sum(c.prompt_tokens - c.cached_tokens - c.cache_write_tokens)::bigint as input_tokens,
      sum(c.cached_tokens)::bigint as cached_tokens, sum(c.cache_write_tokens)::bigint as cache_write_tokens,
      sum(c.completion_tokens)::bigint as output_tokens,
      count(*) filter (where c.rare_counts is not null) as rare_calls
    from page p
    cross join lateral (
      select k.* from usage.calls k
      where k.wallet_id = p.wallet_id and k.price_id is not null and k.settled_at >= p_from and k.settled_at < p_to
        and k.month >= (date_trunc('month', p_from, 'UTC') at time zone 'UTC' - interval '1 month')::date
        and k.month <= (p_to at time zone 'UTC')::date
      offset 0
    ) c
    group by 1, 2, 3
  ) s on true;
$$;

revoke all on function usage.billed from public;
grant execute on function usage.billed to purser_live;
