-- What a wallet has spent and holds in a month, for its cap (WA-08). The row has the sums of its own month. Nobody keeps
-- those of a month that has ended: they are added up from its receipts, here and in archives. Without a cap they do not
-- matter.
create or replace function ledger.counted_in(w ledger.wallets, p_month date) returns table (spent bigint, held bigint)
language sql stable as $$
  select w.cap_spent_micros, w.cap_held_micros where w.cap_month = p_month
  union all
  select (select coalesce(sum(c.charged_micros), 0)::bigint from usage.calls c
      where w.cap_micros is not null and c.wallet_id = w.wallet_id and c.month = p_month)
    + (select coalesce(sum(k.charged_micros), 0)::bigint from ledger.months d
      join ledger.month_wallets k on k.month = d.month
      where w.cap_micros is not null and d.detached_at is not null and k.wallet_id = w.wallet_id and k.spent_month = p_month)
    + (select coalesce(sum(e.spent_micros), 0)::bigint from ledger.spent_elsewhere e
      where w.cap_micros is not null and e.wallet_id = w.wallet_id and e.month = p_month),
    (select coalesce(sum(h.amount_micros), 0)::bigint from ledger.holds h
      where w.cap_micros is not null and h.wallet_id = w.wallet_id and h.month = p_month)
  where w.cap_month <> p_month
$$;

revoke all on function ledger.counted_in from public;
