-- Makes the receipts of a detached month a part of usage.calls again. Its table has been filled, and its rows have the month's hash.
-- They are counted once more: a second restore may have emptied the table since. All restores of a month write the same rows, so the
-- count tells.
create or replace function ledger.end_restore(p_month date) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  made constant text := ledger.receipts_of(p_month);
  is_first boolean;
  from_call uuid;
  before_call uuid;
  closed bigint;
  restored bigint;
begin
  update ledger.months m set detached_at = null where m.month = p_month and m.detached_at is not null
  returning m.from_call is null, m.from_call, m.before_call, m.receipts into is_first, from_call, before_call, closed;
  if not found then
    raise exception 'the month is not detached';
  end if;
  execute format('select count(*) from %s', made) into restored;
  if restored <> closed then
    raise exception 'the month was closed with % receipts, and % were restored', closed, restored;
  end if;
  execute format('create trigger calls_not_truncated before truncate on %s for each statement execute function ledger.refuse_change()', made);
  execute format('create trigger calls_closed before insert on %s for each row execute function ledger.refuse_late()', made);
  execute format('alter table usage.calls attach partition %s for values from (%s) to (%L)', made,
    case when is_first then 'minvalue' else quote_literal(from_call) end, before_call);
end $$;

revoke all on function ledger.end_restore from public;
