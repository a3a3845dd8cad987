-- Adds charged calls to the sums: of the wallets after `p_after`, up to 20 * `p_most` numbers further, and of those up to
-- `p_most` that have entries above their watermark. It returns one row, with the number to go on after; null when no wallet
-- is left. It returns no row while another process adds, or while a rebuild runs.
--
-- The sums and the watermarks change in one statement, so a crash loses both or neither. The statement sees the snapshot
-- that it begins with, and it begins behind the lock, so it sees every watermark of the process before it. A wallet's
-- entries are numbered under its lock and commit in that order: those up to the wallet's `entry_seq` are all there.
--
-- A receipt is the entry of its charge. Only charges from before receipts were, and those paid in part, are in the journal;
-- the first of the two entries of such a call brings it in. One statement takes at most `p_entries` entries, so a first
-- pass over a large ledger is many short ones: it may stop within a wallet, and goes on with the same.
--
-- Receipts of closed months that a pass has been over are not looked for again (`from_call`). A wallet that no pass has come to is
-- read from its beginning.
--
-- Its plan is kept while tables grow, so each look-up of receipts is pinned to its index: a lateral subquery with `offset 0`.
create or replace function stats.roll_up(p_after bigint, p_most int, p_entries int)
returns table (last_wallet bigint, wallets int, calls bigint)
language plpgsql volatile security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_nestloop = off set jit = off as $$
#variable_conflict use_column
begin
  if not pg_try_advisory_xact_lock(hashtextextended('stats.roll_up', 0)) then
    return;
  end if;
  return query
  with pending as (
    select w.wallet_id, w.app_id, w.entry_seq, coalesce(m.entry_seq, 0) as seen
    from ledger.wallets w
    -- Both by their index, once: nested loops are off, so it is a join by merging or hashing.
    left join stats.watermarks m
      on m.wallet_id = w.wallet_id and m.wallet_id > p_after and m.wallet_id <= p_after + 20 * p_most
    where w.wallet_id > p_after and w.wallet_id <= p_after + 20 * p_most and w.entry_seq > coalesce(m.entry_seq, 0)
    order by w.wallet_id limit p_most
  ), changed as materialized (
    select q.wallet_id, q.app_id, q.entry_seq, q.seen,
      case when q.seen = 0 then '00000000-0000-0000-0000-000000000000' else s.from_call end as from_call, least(q.entry_seq, q.seen + p_entries - q.earlier) as last_seq
    from (
      select p.*, coalesce(sum(p.entry_seq - p.seen) over (
        order by p.wallet_id rows between unbounded preceding and 1 preceding), 0)::bigint as earlier
      from pending p
    ) q cross join stats.passes s where q.earlier < p_entries
  ), news as (
    select c.app_id, r.*
    from changed c
    cross join lateral (
      (select k.settled_at, k.model, k.charged_micros, k.prompt_tokens, k.completion_tokens, k.price_id
      from usage.calls k where k.wallet_id = c.wallet_id and k.seq > c.seen and k.seq <= c.last_seq
        and k.call_id >= c.from_call order by k.seq)
      offset 0
    ) r
    union all
    select c.app_id, r.*
    from changed c
    cross join lateral (
      select j.kind, j.cause from ledger.journal j
      where j.wallet_id = c.wallet_id and j.seq > c.seen and j.seq <= c.last_seq and j.kind in ('charge', 'charge_receivable')
      order by j.seq offset 0
    ) e
    cross join lateral (
      select k.settled_at, k.model, k.charged_micros, k.prompt_tokens, k.completion_tokens, k.price_id
      from usage.calls k
      where k.call_id = case when e.cause ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then e.cause::uuid end
        and k.seq is null
      offset 0
    ) r
    where e.kind = 'charge'
      or not exists (select from ledger.journal j where j.cause = e.cause and j.kind = 'charge' offset 0)
  ), added as (
    insert into stats.hours as h (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens, completion_tokens,
      cost_micros)
    select n.app_id, 'live', date_trunc('hour', n.settled_at, 'UTC') as hour, coalesce(n.model, '') as model, 'charged',
      count(*), sum(n.charged_micros), sum(n.prompt_tokens), sum(n.completion_tokens),
      case when bool_and(p.price_id is not null)
        then sum(stats.cost_of(n.charged_micros, p.margin_basis_points, p.margin_micros_per_call)) end
    from news n left join catalogue.prices p on p.price_id = n.price_id group by n.app_id, 3, 4
    order by n.app_id, 3, 4 -- Everybody locks rows in this order.
    on conflict (app_id, mode, hour, model, outcome) do update set
      calls = h.calls + excluded.calls,
      charged_micros = h.charged_micros + excluded.charged_micros,
      prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = h.completion_tokens + excluded.completion_tokens,
      cost_micros = h.cost_micros + excluded.cost_micros
  ), marked as (
    insert into stats.watermarks as k (wallet_id, entry_seq)
    select c.wallet_id, c.last_seq from changed c
    on conflict (wallet_id) do update set entry_seq = excluded.entry_seq
  )
  select case
      when bool_or(c.last_seq < c.entry_seq) then max(c.wallet_id) - 1
      when count(*) = p_most or sum(c.last_seq - c.seen) >= p_entries then max(c.wallet_id)
      -- Not the next numbers: those of each cell begin a million million further.
      else (select min(w.wallet_id) - 1 from ledger.wallets w where w.wallet_id > p_after + 20 * p_most)
    end,
    count(*)::int, (select count(*) from news)
  from changed c;
end $$;

revoke all on function stats.roll_up from public;
grant execute on function stats.roll_up to purser_live;
