-- The number of a wallet's first entry at or after a moment; the next number if there is none. Found by halving, as entries are in the
-- order of time.
create or replace function ledger.first_entry_since(p_wallet bigint, p_at timestamptz) returns bigint
language plpgsql stable set search_path = pg_catalog as $$
declare
  low bigint := 0; -- Everything up to it is older.
  high bigint;
  middle bigint;
  probe record;
begin
  select w.entry_seq + 1 into high from ledger.wallets w where w.wallet_id = p_wallet;
  while high - low > 1 loop
    middle := low + (high - low) / 2;
    select * into probe from ledger.entry_below(p_wallet, middle + 1);
    if probe.seq is null or probe.at < p_at then
      low := middle;
    else
      high := middle;
    end if;
  end loop;
  return high;
end $$;

revoke all on function ledger.first_entry_since from public;
grant execute on function ledger.first_entry_since to purser_live;
