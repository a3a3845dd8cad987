-- Closes a month that is barred and whose receipts have this hash: keeps what each wallet and budget adds up to, and the hash, with
-- that of the chain. Gives the row's hash of the chain. A month that is closed already is left as it is.
--
-- The chain is SHA-256 over one line: the month, its receipts, entries and charge, its own hash and that of the chain before,
-- in hexadecimal, with a blank between each.
create or replace function ledger.close_month(p_month date, p_receipts bigint, p_rows_hash bytea) returns void
language plpgsql set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
declare
  chain constant text := coalesce(
    (select encode(m.chain_hash, 'hex') from ledger.months m where m.month < p_month order by m.month desc limit 1), repeat('0', 64));
  sums record;
begin
  perform from ledger.months m where m.month = p_month and m.closed_at is null for update;
  if not found then
    return;
  end if;
  execute format($text$
    insert into ledger.month_wallets (month, wallet_id, spent_month, receipts, charged_micros, entries, booked_micros, last_seq,
      opening_micros, closing_micros, last_settled_at)
    select $1, c.wallet_id, c.month, count(*), sum(c.charged_micros), count(c.seq),
      coalesce(sum(c.charged_micros) filter (where c.seq is not null), 0), max(c.seq),
      (array_agg(c.balance_after_micros + c.charged_micros order by c.seq) filter (where c.seq is not null))[1],
      (array_agg(c.balance_after_micros order by c.seq desc) filter (where c.seq is not null))[1], max(c.settled_at)
    from %s c group by c.wallet_id, c.month$text$, ledger.receipts_of(p_month)) using p_month;
  execute format($text$
    insert into ledger.month_budgets (month, key_id, spent_month, charged_micros)
    select $1, c.budget_key, c.month, sum(c.charged_micros) from %s c where c.budget_key is not null group by c.budget_key, c.month
    $text$, ledger.receipts_of(p_month)) using p_month;
  select coalesce(sum(w.receipts), 0)::bigint as receipts, coalesce(sum(w.entries), 0)::bigint as entries,
    coalesce(sum(w.charged_micros), 0)::bigint as charged, max(w.last_settled_at) as last_settled_at
  into sums from ledger.month_wallets w where w.month = p_month;
  if sums.receipts <> p_receipts then
    raise exception 'the month has % receipts, and % were read', sums.receipts, p_receipts;
  end if;
  update ledger.months m set closed_at = clock_timestamp(), receipts = sums.receipts, entries = sums.entries,
    charged_micros = sums.charged, last_settled_at = sums.last_settled_at, rows_hash = p_rows_hash,
    chain_hash = sha256(convert_to(concat_ws(' ', to_char(p_month, 'YYYY-MM'), sums.receipts, sums.entries, sums.charged,
      encode(p_rows_hash, 'hex'), chain), 'UTF8'))
  where m.month = p_month;
end $$;

revoke all on function ledger.close_month from public;
