-- The id of a receipt that no gateway made: like the id of a call, it begins with the time (UUID version 7).
create or replace function ledger.new_receipt_id() returns uuid
language sql volatile set search_path = pg_catalog as $$
  select (left(t.ms, 8) || '-' || right(t.ms, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid
  from lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') t (ms)
$$;

revoke all on function ledger.new_receipt_id from public;
