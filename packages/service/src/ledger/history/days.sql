-- The UTC days on which a wallet had entries below a number, the newest first: the calls of each, what they were charged, and
-- the owner's other movements, and the balance before and after.
--
-- A day may have any number of calls, and none of them is read: entries are numbered without gaps and carry the balance after
-- them. So the numbers at both ends of a day tell how many there were, and the balances what they took. The ends are found by
-- halving, some twenty probes of an index for a million entries. Only the entries of the journal are read, which are few.
--
-- The list ends where receipts are in an archive: from there on the numbers no longer tell what the calls of a day took. It has no
-- entry below p_first.
create or replace function ledger.days(p_wallet bigint, p_before bigint, p_most int, p_first bigint default 1)
returns table (day date, first_seq bigint, last_seq bigint, calls bigint, charged bigint, others bigint,
  balance_after bigint, balance_before bigint)
language plpgsql stable set search_path = pg_catalog as $$
declare
  newest record;
  probe record;
  below bigint := coalesce(p_before, 9223372036854775807);
  midnight timestamptz;
  low bigint;
  high bigint;
  step bigint;
  booked record;
  archived record; -- The last entry that is in an archive, and the balance after it.
  ended bigint; -- The last entry that is not listed.
begin
  select coalesce(max(s.last_seq), 0) as seq, (array_agg(s.closing_micros order by s.last_seq desc nulls last))[1] as balance_after
  into archived
  from ledger.month_wallets s
  where s.wallet_id = p_wallet and exists (select from ledger.months m where m.month = s.month and m.detached_at is not null);
  ended := greatest(archived.seq, p_first - 1);
  for shown in 1 .. p_most loop
    select * into newest from ledger.entry_below(p_wallet, below);
    exit when newest.seq is null or newest.seq <= ended;
    day := (newest.at at time zone 'UTC')::date;
    midnight := day::timestamp at time zone 'UTC';
    -- `high` is of this day, `low` of an earlier one, or 0: back in steps that double, then by halving what lies between.
    high := newest.seq;
    step := 1;
    loop
      select * into probe from ledger.entry_below(p_wallet, greatest(high - step, 0) + 1);
      low := coalesce(probe.seq, 0);
      exit when probe.seq is null or probe.at < midnight or probe.seq <= ended;
      high := low;
      step := step * 2;
    end loop;
    while high - low > 1 loop
      select * into probe from ledger.entry_below(p_wallet, low + (high - low) / 2 + 1);
      if probe.seq is null or probe.at < midnight or probe.seq <= ended then
        low := low + (high - low) / 2;
      else
        high := probe.seq;
      end if;
    end loop;
    select * into probe from ledger.entry_below(p_wallet, high);
    if archived.seq > 0 and high = archived.seq + 1 then
      probe.balance_after := archived.balance_after;
    end if;
    select count(*) filter (where j.kind <> 'charge') as entries,
      count(*) filter (where j.kind <> 'charge' and ('wallet' in (j.debit, j.credit) or j.kind = 'refund_paid')) as others,
      coalesce(sum(case when j.credit = 'wallet' then j.amount_micros when j.debit = 'wallet' then -j.amount_micros end)
        filter (where j.kind <> 'charge'), 0)::bigint as change
    into booked from ledger.journal j
    where j.wallet_id = p_wallet and j.seq >= high and j.seq <= newest.seq;
    first_seq := high;
    last_seq := newest.seq;
    calls := newest.seq - high + 1 - booked.entries;
    others := booked.others;
    charged := coalesce(probe.balance_after, 0) + booked.change - newest.balance_after;
    balance_after := newest.balance_after;
    balance_before := coalesce(probe.balance_after, 0);
    return next;
    below := high;
  end loop;
end $$;

revoke all on function ledger.days from public;
grant execute on function ledger.days to purser_live;
