-- Tells whether a table of the directory has the same rows in two databases: digests of up to 64 parts of its rows, and one of the names of
-- its columns. Leaves out columns that each cell writes for itself, and rows whose time is over.
create or replace function cells.digests(p_table regclass, p_own_columns text[], p_expires_by text) returns table (part text, digest text)
language plpgsql stable security definer
set search_path = pg_catalog set timezone = 'UTC' set datestyle = 'ISO' set intervalstyle = 'postgres' set bytea_output = 'hex' as $$
declare
  compared constant text := (
    select string_agg(quote_ident(a.attname), ', ' order by a.attname collate "C") from pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attname <> all (p_own_columns));
  key constant text := (
    select string_agg(quote_ident(a.attname), ', ' order by a.attname collate "C")
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = p_table and i.indisprimary);
  unless_over constant text := case when p_expires_by is null then ''
    else format('where coalesce(t.%I > clock_timestamp(), true)', p_expires_by) end;
begin
  return query select 'columns', md5(compared);
  return query execute format(
    $sql$
      select d.part::text, count(*) || ' ' || sum(d.digest)
      from (
        select ('x' || left(md5(row(%s)::text), 2))::bit(8)::int %% 64 as part, ('x' || left(md5(row(%s)::text), 15))::bit(60)::bigint as digest
        from %s t %s
      ) d
      group by d.part
    $sql$, key, compared, p_table, unless_over);
end $$;

revoke all on function cells.digests from public;
grant execute on function cells.digests to purser_live;
