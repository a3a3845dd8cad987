-- The check of what is new. It looks at wallets after `p_after` in their order and takes up to `p_most` of those that are
-- not as their checkpoint says. It derives their figures from the checkpoint and the entries after it.
--
-- One statement, so one snapshot; it locks no wallet. A wallet that is right gets a new checkpoint. One that is not keeps
-- the old one and is reported again at every pass. There is at least one row, with the last wallet looked at; null when
-- none is left.
create or replace function ledger.check_changes(p_after bigint, p_most int)
returns table (last_wallet bigint, wallets int, entries bigint, rule text, wallet_id bigint, expected bigint, found bigint)
language sql volatile security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
  with page as materialized (
    select w as wallet, p as verified
    from ledger.wallets w left join ledger.checkpoints p on p.wallet_id = w.wallet_id
    where w.wallet_id > p_after order by w.wallet_id limit 20 * p_most
  ), changed as materialized (
    select g.wallet, (g.wallet).wallet_id as wallet_id, coalesce((g.verified).entry_seq, 0) as entry_seq,
      coalesce((g.verified).balance_micros, 0) as balance, coalesce((g.verified).shortfall_micros, 0) as shortfall,
      case when (g.verified).cap_month = (g.wallet).cap_month then (g.verified).cap_spent_micros else 0 end as spent
    from page g
    where ((g.wallet).version, (g.wallet).entry_seq, (g.wallet).balance_micros, (g.wallet).shortfall_micros,
        (g.wallet).held_micros, (g.wallet).cap_month, (g.wallet).cap_spent_micros)
      is distinct from ((g.verified).version, (g.verified).entry_seq, (g.verified).balance_micros,
        (g.verified).shortfall_micros, (g.verified).held_micros, (g.verified).cap_month, (g.verified).cap_spent_micros)
    order by (g.wallet).wallet_id limit p_most
  ), news as materialized (
    select c.wallet_id, e.seq, e.kind, e.cause, e.debit, e.credit, e.amount_micros, e.balance_after_micros as after,
      lag(e.balance_after_micros, 1, c.balance) over in_turn as before, lag(e.seq) over in_turn as previous,
      ledger.added_to_wallet(e.debit, e.credit, e.amount_micros) as change
    from changed c
    cross join lateral ( -- Not flattened, so that each wallet's new rows are found by the index, even when the planner guesses wrong.
      select * from ledger.entries e where e.wallet_id = c.wallet_id and e.seq > c.entry_seq offset 0
    ) e
    window in_turn as (partition by c.wallet_id order by e.seq)
  ), charges as materialized (
    select n.wallet_id, r.month, r.charged_micros as receipt, sum(n.amount_micros)::bigint as charged
    from news n
    left join lateral (
      select k.month, k.charged_micros from usage.calls k
      where k.call_id = case when n.cause ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then n.cause::uuid end
        and k.wallet_id = n.wallet_id
      offset 0
    ) r on true
    where n.kind in ('charge', 'charge_receivable')
    group by n.wallet_id, n.cause, r.month, r.charged_micros
  ), new_sums as (
    select n.wallet_id, count(*) as entries, max(n.seq) as last_seq, sum(n.change)::bigint as balance,
      sum(ledger.added_to_receivable(n.debit, n.credit, n.amount_micros))::bigint as shortfall
    from news n group by n.wallet_id
  ), new_charges as (
    select h.wallet_id, h.month, sum(h.receipt)::bigint as charged from charges h group by h.wallet_id, h.month
  ), hold_sums as (
    select c.wallet_id, sum(h.amount_micros)::bigint as held, count(*) filter (where h.is_stream) as streams,
      count(*) filter (where not h.is_stream and h.drained_since is null) as plain,
      sum(h.amount_micros) filter (where h.month = (c.wallet).cap_month)::bigint as month_held
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id group by c.wallet_id
  ), differences as materialized (
    select f.rule, c.wallet_id, f.expected, f.found
    from changed c
    left join new_sums s on s.wallet_id = c.wallet_id
    left join new_charges h on h.wallet_id = c.wallet_id and h.month = (c.wallet).cap_month
    left join hold_sums o on o.wallet_id = c.wallet_id
    cross join lateral ledger.broken_rules(c.wallet, c.entry_seq + coalesce(s.entries, 0),
      coalesce(s.last_seq, c.entry_seq), c.balance + coalesce(s.balance, 0), c.shortfall + coalesce(s.shortfall, 0),
      coalesce(o.held, 0), coalesce(o.streams, 0), coalesce(o.plain, 0), c.spent + coalesce(h.charged, 0), coalesce(o.month_held, 0)) f
    union all
    select 'each entry carries the balance after it', n.wallet_id, n.before + n.change, n.after
    from news n where n.after <> n.before + n.change
    union all
    select 'each entry has a number of its own', n.wallet_id, n.seq + 1, n.seq from news n where n.seq = n.previous
    union all
    select 'an entry moves money between the books of its kind', n.wallet_id, 0, n.amount_micros
    from news n
    where n.debit is distinct from ledger.debit_of(n.kind) or n.credit is distinct from ledger.credit_of(n.kind)
    union all
    select 'an entry moves more than nothing', n.wallet_id, 1, n.amount_micros from news n where n.amount_micros < 1
    union all
    select 'a call is charged what its receipt says', h.wallet_id, coalesce(h.receipt, 0), h.charged
    from charges h where h.charged is distinct from h.receipt
    union all
    select 'a call that has ended holds nothing', c.wallet_id, 0, h.amount_micros
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id join usage.calls k on k.call_id = h.call_id
    union all
    select 'a hold belongs to a process', c.wallet_id, 0, h.amount_micros
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id
    where not exists (select from db.instances i where i.instance_id = h.instance_id)
  ), kept as (
    insert into ledger.checkpoints as p (wallet_id, version, entry_seq, balance_micros, shortfall_micros, held_micros,
      cap_month, cap_spent_micros)
    select c.wallet_id, (c.wallet).version, (c.wallet).entry_seq, (c.wallet).balance_micros, (c.wallet).shortfall_micros,
      (c.wallet).held_micros, (c.wallet).cap_month, (c.wallet).cap_spent_micros
    from changed c where not exists (select from differences d where d.wallet_id = c.wallet_id)
    order by c.wallet_id -- Two passes at a time are useless and harmless: neither waits for the other in a circle.
    on conflict (wallet_id) do update set version = excluded.version, entry_seq = excluded.entry_seq,
      balance_micros = excluded.balance_micros, shortfall_micros = excluded.shortfall_micros,
      held_micros = excluded.held_micros, cap_month = excluded.cap_month, cap_spent_micros = excluded.cap_spent_micros
  )
  select s.last_wallet, s.wallets, s.entries, d.rule, d.wallet_id, d.expected, d.found
  from (
    select case when (select count(*) from changed) = p_most then (select max(c.wallet_id) from changed c)
        else (select max((g.wallet).wallet_id) from page g) end as last_wallet,
      (select count(*)::int from changed) as wallets, (select count(*) from news) as entries
  ) s left join differences d on true
$$;

revoke all on function ledger.check_changes from public;
grant execute on function ledger.check_changes to purser_live;
