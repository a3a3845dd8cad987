-- Analyzes one table of ours that is small and has more than doubled since its pages were last counted, and says whether
-- there was one.
--
-- A connection keeps its plans until somebody has analyzed the tables. The server does that about once a minute. By then a
-- table that was nearly empty when a plan was made can have grown a thousandfold, and what was cheapest for one page is a
-- pass over all of them, for every batch of calls. Larger tables are left to the server: they do not double in a minute.
--
-- Only one table in each transaction: if an analysis is broken off, the pages that it counted stay, but what it learned is
-- lost, also for other tables in the transaction. One process does this at a time. A table that somebody has locked against
-- everything, or waits to lock so, is left to a later turn: even to ask for its size would be to wait.
create or replace function db.analyze_small_table() returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  young regclass;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('db.analyze_small_table', 0)) then
    return false;
  end if;
  foreach young in array array(
    with ours as materialized (
      select c.oid, c.relpages from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r'
        and n.nspname in ('accounts', 'audit', 'catalogue', 'cells', 'connections', 'db', 'idempotency', 'identities', 'ledger', 'limits',
          'mail', 'operator', 'payments', 'reconciliation', 'sandbox', 'stats', 'status', 'traces', 'usage', 'webhooks')
        and not exists (
          select from pg_locks l join pg_database d on d.oid = l.database
          where d.datname = current_database() and l.relation = c.oid and l.mode = 'AccessExclusiveLock'
        )
    )
    select o.oid::regclass from ours o, pg_relation_size(o.oid) size
    where size <= 4000 * current_setting('block_size')::bigint
      and size > 2 * current_setting('block_size')::bigint * o.relpages
  ) loop
    begin
      execute format('lock table %s in share update exclusive mode nowait', young);
    exception when lock_not_available then
      continue; -- Somebody analyzes it, or makes it clean.
    end;
    execute format('analyze %s', young);
    return true;
  end loop;
  return false;
end $$;

revoke all on function db.analyze_small_table from public;
grant execute on function db.analyze_small_table to purser_live;
