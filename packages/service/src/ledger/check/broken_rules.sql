-- The rules of one wallet's row, given what its entries, holds and receipts add up to: a row for each rule that is broken.
-- Both checks share it. PostgreSQL takes it into them, which is why it is neither strict nor run with the owner's rights.
create or replace function ledger.broken_rules(
  w ledger.wallets, entries bigint, last_seq bigint, balance bigint, shortfall bigint,
  held bigint, streams bigint, plain bigint, spent bigint, month_held bigint
) returns table (rule text, expected bigint, found bigint)
language sql immutable parallel safe as $$
  select f.rule, f.expected, f.found from (values
    ('the balance is the sum of the entries', balance, w.balance_micros),
    ('the shortfall is the sum of the receivables', shortfall, w.shortfall_micros),
    ('entries are numbered without a gap', entries, w.entry_seq),
    ('the last entry has the last number', last_seq, w.entry_seq),
    ('held is the sum of the holds', held, w.held_micros),
    ('open streams are the holds of streams', streams, w.open_streams),
    ('open calls are the holds of plain calls', plain, w.open_calls),
    ('spent this month is the sum of its charges', spent, w.cap_spent_micros),
    ('held this month is the sum of its holds', month_held, w.cap_held_micros),
    ('held is at most the balance', least(w.held_micros, w.balance_micros),
      case when w.is_clawed then least(w.held_micros, w.balance_micros) else w.held_micros end),
    ('a wallet is clawed only while holds exceed its balance', 0,
      (w.is_clawed and w.held_micros <= w.balance_micros)::int),
    ('a wallet with a shortfall is suspended', 0, case when w.is_suspended then 0 else w.shortfall_micros end),
    ('the currency of a wallet is a code', 1, (w.currency ~ '^[A-Z]{3}$')::int)
  ) f (rule, expected, found)
  where f.expected <> f.found
$$;

revoke all on function ledger.broken_rules from public;
