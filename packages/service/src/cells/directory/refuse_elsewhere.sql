-- A table of the directory is written in one cell, and copied to all others. Rows that are copied do not come by here: the copying process fires no
-- such triggers. `cells/directory/directory.ts` tells the refusal by its code.
create or replace function cells.refuse_elsewhere() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  raise exception 'the directory is written in another cell'
    using errcode = 'PC001', detail = (select o.directory_url from cells.own o);
end $$;

revoke all on function cells.refuse_elsewhere from public;
