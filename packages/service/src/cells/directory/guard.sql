-- Lets nobody but the copying process write a table of the directory in this database, but for columns that each cell writes for itself, and rows
-- whose time is over. Safe to repeat.
create or replace function cells.guard(p_table text, p_own_columns text[], p_expires_by text) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  guarded constant text := (
    select string_agg(quote_ident(a.attname), ', ') from pg_attribute a
    where a.attrelid = p_table::regclass and a.attnum > 0 and not a.attisdropped and a.attname <> all (p_own_columns));
  unless_over constant text := case when p_expires_by is null then ''
    else format('when (coalesce(old.%I > clock_timestamp(), true))', p_expires_by) end;
begin
  execute format('create or replace trigger directory_insert before insert on %s for each row execute function cells.refuse_elsewhere()', p_table);
  execute format('create or replace trigger directory_update before update of %s on %s for each row execute function cells.refuse_elsewhere()',
    guarded, p_table);
  execute format('create or replace trigger directory_delete before delete on %s for each row %s execute function cells.refuse_elsewhere()',
    p_table, unless_over);
end $$;

revoke all on function cells.guard from public;
