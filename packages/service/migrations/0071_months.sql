-- Receipts by month (decision 91). A call id begins with the time at which its call began, so a range of ids is a UTC month, and
-- the primary key is still of the call id alone. The table with all receipts so far becomes the first month: that of today, from
-- the beginning. Nothing is rewritten. Locks usage.calls for as long as it takes to read it once.

-- The months that receipts are kept in, without gaps. `usage.calls_2026_11` has those of November 2026.
create table ledger.months (
  month date primary key,
  from_call uuid, -- Null in the first month: it has all that came before.
  before_call uuid not null,
  closed_at timestamptz, -- Null: open. A closed month is checked, added up and sealed, and takes no receipts.
  receipts bigint,
  entries bigint, -- Receipts that are entries.
  charged_micros bigint, -- Of all receipts.
  last_settled_at timestamptz, -- The end of its last call, perhaps in the next month. Null: it has no calls.
  rows_hash bytea, -- SHA-256 of the month as CSV, see ledger.month_page.
  chain_hash bytea, -- SHA-256 of what is said of this month and of the months before, see ledger.close_month.
  archived_at timestamptz, -- When an archive of it was last read back and found whole. Null: never.
  detached_at timestamptz, -- Its receipts are only in an archive. Null: they are here.
  constraint a_closed_month_has_its_figures check (
    (closed_at is null) = (receipts is null) and (closed_at is null) = (entries is null)
    and (closed_at is null) = (charged_micros is null) and (closed_at is null) = (rows_hash is null)
    and (closed_at is null) = (chain_hash is null)
  ),
  constraint only_a_closed_month_is_archived check (archived_at is null or closed_at is not null),
  constraint only_an_archived_month_is_detached check (detached_at is null or archived_at is not null)
);
grant select on ledger.months to purser_live;

do $$
declare
  this constant date := date_trunc('month', clock_timestamp() at time zone 'UTC')::date;
  first constant text := 'calls_' || to_char(this, 'YYYY_MM');
  before_call constant uuid :=
    (lpad(to_hex((extract(epoch from (this + interval '1 month') at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
begin
  drop trigger if exists calls_append_only on usage.calls;
  drop trigger if exists calls_not_truncated on usage.calls;
  execute format('alter table usage.calls rename to %I', first);
  execute format('alter index usage.calls_pkey rename to %I', first || '_pkey');
  execute format('alter index usage.calls_wallet rename to %I', first || '_wallet');
  execute format('alter index usage.calls_correlation rename to %I', first || '_correlation');
  execute format('alter index usage.calls_entries rename to %I', first || '_entries');
  execute format('revoke all on usage.%I from purser_live', first); -- It is read through usage.calls.

  execute format('create table usage.calls (like usage.%I including defaults including constraints) partition by range (call_id)', first);
  alter table usage.calls add constraint calls_pkey primary key (call_id);
  create index calls_wallet on usage.calls (wallet_id, month);
  create index calls_correlation on usage.calls (correlation_id, call_id) where correlation_id is not null;
  grant select on usage.calls to purser_live;

  -- For ids that no month has, which only a gateway with a wrong clock makes: no call fails for want of a month.
  create table usage.calls_other partition of usage.calls default;
  create unique index calls_other_entries on usage.calls_other (wallet_id, seq) where seq is not null;
  execute format('insert into usage.calls_other select * from usage.%I where call_id >= %L', first, before_call);
  execute format('delete from usage.%I where call_id >= %L', first, before_call);

  execute format('alter table usage.calls attach partition usage.%I for values from (minvalue) to (%L)', first, before_call);
  insert into ledger.months (month, before_call) values (this, before_call);
end $$;

-- The same view, of the new table.
create or replace view ledger.entries as
  select wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at from ledger.journal
  union all
  select wallet_id, seq, 'charge', call_id::text, 'wallet', 'earned', charged_micros, balance_after_micros, settled_at
  from usage.calls where seq is not null;
