-- The times that a wallet was in this cell, the newest first: the move by which it came (0: it was opened here), since when, and the
-- numbers of its entries, from first_seq on and below before_seq. From own_first on and below own_before without what carried its
-- balance here and away, which is nothing to its owner.
--
-- A wallet without money comes and goes without an entry. Then the time of the arrival says where its entries begin: both are of the clock of this database.
create or replace function ledger.stays(p_wallet bigint, p_slot integer)
returns table (move integer, since timestamptz, first_seq bigint, before_seq bigint, own_first bigint, own_before bigint)
language sql stable set search_path = pg_catalog as $$
  with began as (
    select 0 as move, null::timestamptz as since, 1::bigint as first_seq, 1::bigint as own_first
    union all
    select a.move, a.at, coalesce(m.first_seq, ledger.first_entry_since(p_wallet, a.at)),
      coalesce(m.last_seq + 1, ledger.first_entry_since(p_wallet, a.at))
    from cells.arrivals a
    cross join lateral (
      select min(j.seq) as first_seq, max(j.seq) as last_seq from ledger.journal j
      where j.cause in ('moved_in:' || p_wallet || ':' || a.move, 'owed_in:' || p_wallet || ':' || a.move)
    ) m
    where a.slot = p_slot and a.has_arrived and a.wallets > 0
  ),
  stays as (
    select b.*, lead(b.move) over later as next_move, lead(b.first_seq) over later as before_seq
    from began b window later as (order by b.move)
  )
  select s.move, s.since, s.first_seq, s.before_seq, s.own_first, coalesce(gone.seq, s.before_seq)
  from stays s
  cross join lateral (
    -- Any move may be the one by which it left. Pinned, so that each is a probe of the index of causes.
    select min(j.seq) as seq
    from generate_series(s.move + 1, coalesce(s.next_move - 1, (select o.moves from cells.slots o where o.slot = p_slot))) m (move)
    cross join lateral (
      select b.seq from ledger.journal b
      where b.cause in ('moved_out:' || p_wallet || ':' || m.move, 'owed_out:' || p_wallet || ':' || m.move) offset 0
    ) j
  ) gone
  order by s.move desc
$$;

revoke all on function ledger.stays from public;
grant execute on function ledger.stays to purser_live;
