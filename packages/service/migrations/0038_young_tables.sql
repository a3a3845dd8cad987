-- Plans that keep up with tables that are young. Locks: none, a function alone.
--
-- A connection keeps its plans until somebody has analyzed the tables. The server does that about once a minute, and by then a
-- table that was nearly empty when the plan was made can have grown a thousandfold: what was cheapest for one page is a pass
-- over all of them, for every batch of calls and every turn of what runs in the background.

-- Analyzes the tables that are small and have more than doubled since they were last analyzed, so that no plan is kept that
-- was made for less than half of what there is. Gives how many. Larger ones are left to the server, which comes by before
-- they have doubled. One process does it at a time, and waits for nobody.
create function db.analyze_young_tables() returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  young regclass;
  analyzed int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('db.analyze_young_tables', 0)) then
    return 0;
  end if;
  for young in
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and c.relowner = current_user::regrole and n.nspowner = c.relowner -- Nobody else's.
      and n.nspname !~ '^(pg_|information_schema$|public$)'
      and c.relpages < 1000
      and pg_relation_size(c.oid) > 2 * current_setting('block_size')::bigint * c.relpages
  loop
    execute format('analyze (skip_locked) %s', young);
    analyzed := analyzed + 1;
  end loop;
  return analyzed;
end $$;

revoke all on function db.analyze_young_tables from public;
grant execute on function db.analyze_young_tables to purser_live;
