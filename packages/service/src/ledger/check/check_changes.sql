-- The check of what is new. It looks at the wallets after `p_after`, up to 20 * `p_most` numbers further, and takes up to
-- `p_most` of those that differ from their checkpoint. It derives their figures from the checkpoint and the entries after it.
--
-- One statement, so one snapshot; it locks no wallet. A wallet that is right gets a new checkpoint. One that is not keeps
-- the old one and is reported again at every pass. There is at least one row, with the number to go on after; null when no
-- wallet is left.
--
-- Its plan is kept while tables grow, so each look-up by an index is pinned: a lateral subquery with `offset 0`. All other
-- joins compare what was read once, and never each row with every other: nested loops are off.
create or replace function ledger.check_changes(p_after bigint, p_most int)
returns table (last_wallet bigint, wallets int, entries bigint, rule text, wallet_id bigint, expected bigint, found bigint)
language sql volatile security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_nestloop = off set jit = off as $$
  with changed as materialized (
    -- Receipts of closed months that a pass has been over are not looked for again: a wallet's checkpoint is after them.
    select w as wallet, w.wallet_id, w.cap_month, coalesce(p.entry_seq, 0) as entry_seq,
      case when p.wallet_id is null then '00000000-0000-0000-0000-000000000000' else l.from_call end as from_call,
      coalesce(p.balance_micros, 0) as balance, coalesce(p.shortfall_micros, 0) as shortfall,
      case when p.cap_month = w.cap_month then p.cap_spent_micros else 0 end as spent
    from ledger.wallets w
    left join lateral (
      select * from ledger.checkpoints k where k.wallet_id = w.wallet_id offset 0
    ) p on true
    cross join ledger.last_check l
    where w.wallet_id > p_after and w.wallet_id <= p_after + 20 * p_most
      and (w.version, w.entry_seq, w.balance_micros, w.shortfall_micros, w.held_micros, w.cap_month, w.cap_spent_micros)
        is distinct from
        (p.version, p.entry_seq, p.balance_micros, p.shortfall_micros, p.held_micros, p.cap_month, p.cap_spent_micros)
    order by w.wallet_id limit p_most
  ), news as materialized (
    select c.wallet_id, e.*, lag(e.after, 1, c.balance) over in_turn as before, lag(e.seq) over in_turn as previous
    from changed c
    cross join lateral ledger.entries_after(c.wallet_id, c.entry_seq, c.cap_month, c.from_call) e
    window in_turn as (partition by c.wallet_id order by e.seq)
  ), charges as materialized (
    -- Those in the journal, from before or paid in part: a receipt is else the entry of its charge.
    select n.wallet_id, r.month, r.charged_micros as receipt, sum(n.amount)::bigint as charged
    from news n
    left join lateral (
      select k.wallet_id, k.month, k.charged_micros from usage.calls k
      where k.call_id = case when n.charged_call ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then n.charged_call::uuid end
        and k.seq is null
      offset 0
    ) r on r.wallet_id = n.wallet_id
    where n.charged_call is not null
    group by n.wallet_id, n.charged_call, r.month, r.charged_micros
  ), new_sums as (
    select n.wallet_id, count(*) as entries, max(n.seq) as last_seq, sum(n.change)::bigint as balance,
      sum(n.owed)::bigint as shortfall, sum(n.spent)::bigint as spent
    from news n group by n.wallet_id
  ), new_charges as (
    select h.wallet_id, h.month, sum(h.receipt)::bigint as spent from charges h group by h.wallet_id, h.month
  ), held as materialized (
    -- Running calls alone have a hold, so the table is small. It has no index by wallet: it is read once.
    select h.wallet_id, c.cap_month, h.call_id, h.amount_micros, h.month, h.is_stream, h.drained_since, h.instance_id
    from changed c join ledger.holds h on h.wallet_id = c.wallet_id
  ), hold_sums as (
    select h.wallet_id, sum(h.amount_micros)::bigint as held, count(*) filter (where h.is_stream) as streams,
      count(*) filter (where not h.is_stream and h.drained_since is null) as plain,
      sum(h.amount_micros) filter (where h.month = h.cap_month)::bigint as month_held
    from held h group by h.wallet_id
  ), differences as materialized (
    select f.rule, c.wallet_id, f.expected, f.found
    from changed c
    left join new_sums s on s.wallet_id = c.wallet_id
    left join new_charges h on h.wallet_id = c.wallet_id and h.month = c.cap_month
    left join hold_sums o on o.wallet_id = c.wallet_id
    cross join lateral ledger.broken_rules(c.wallet, c.entry_seq + coalesce(s.entries, 0),
      coalesce(s.last_seq, c.entry_seq), c.balance + coalesce(s.balance, 0), c.shortfall + coalesce(s.shortfall, 0),
      coalesce(o.held, 0), coalesce(o.streams, 0), coalesce(o.plain, 0),
      c.spent + coalesce(s.spent, 0) + coalesce(h.spent, 0), coalesce(o.month_held, 0)) f
    union all
    select f.rule, n.wallet_id, f.expected, f.found
    from news n
    cross join lateral (values
      ('each entry carries the balance after it', n.before + n.change, n.after),
      ('each entry has a number of its own', case when n.seq = n.previous then n.seq + 1 else n.seq end, n.seq),
      ('an entry moves money between the books of its kind', 0, case when n.is_astray then n.amount else 0 end),
      ('an entry moves more than nothing', greatest(n.amount, 1), n.amount)
    ) f (rule, expected, found)
    -- Nearly every entry is right, and is looked at once.
    where (n.after <> n.before + n.change or n.seq = n.previous or n.is_astray or n.amount < 1) and f.expected <> f.found
    union all
    select 'a call is charged what its receipt says', h.wallet_id, coalesce(h.receipt, 0), h.charged
    from charges h where h.charged is distinct from h.receipt
    union all
    select 'a call that has ended holds nothing', h.wallet_id, 0, h.amount_micros
    from held h cross join lateral (select from usage.calls k where k.call_id = h.call_id offset 0) k
    union all
    select 'a hold belongs to a process', h.wallet_id, 0, h.amount_micros
    from held h where not exists (select from db.instances i where i.instance_id = h.instance_id)
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
    where p.version <= excluded.version -- Not over that of a wallet that came back from another cell meanwhile: see ledger.arrive.
  )
  select s.last_wallet, s.wallets, s.entries, d.rule, d.wallet_id, d.expected, d.found
  from (
    select case when count(*) = p_most then max(c.wallet_id)
        -- Not the next numbers: those of each cell begin a million million further.
        else (select min(w.wallet_id) - 1 from ledger.wallets w where w.wallet_id > p_after + 20 * p_most)
      end as last_wallet,
      count(*)::int as wallets, (select count(*) from news) as entries
    from changed c
  ) s left join differences d on true
$$;

revoke all on function ledger.check_changes from public;
grant execute on function ledger.check_changes to purser_live;
