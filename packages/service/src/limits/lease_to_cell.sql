-- `lease_tokens` for a process of another cell, which counts its requests from 1 (`p_request`). Returns nothing for a request that
-- came before, or that a later one has overtaken: it says what its process had then, and would put tokens into the bucket that
-- the process can still spend.
create or replace function limits.lease_to_cell(
  p_request bigint, p_holder uuid, p_app text[], p_per_minute int[], p_burst int[],
  p_wanted int[], p_kept int[], p_back int[], p_leased int[]
)
returns table (
  app_id text, granted int, is_held boolean, leased int,
  tokens_left double precision, tokens_full double precision, wait_ms int
)
language plpgsql security definer set search_path = pg_catalog as $$
begin
  -- As in `lease_tokens`. A crash forgets the tokens and the number together.
  perform set_config('synchronous_commit', 'off', true);
  insert into limits.askers as a (holder, request, asked_at) values (p_holder, p_request, db.wall_clock())
    on conflict (holder) do update set request = excluded.request, asked_at = excluded.asked_at
    where a.request < excluded.request;
  if not found then return; end if;
  -- Requests are valid for a minute. Of a process that asks again after an hour, the next number is as good as the first.
  if p_request = 1 then
    delete from limits.askers a where a.asked_at < db.wall_clock() - interval '1 hour';
  end if;
  return query select t.* from limits.lease_tokens(
    p_holder, p_app, p_per_minute, p_burst, p_wanted, p_kept, p_back, p_leased
  ) t;
end $$;

revoke all on function limits.lease_to_cell from public;
grant execute on function limits.lease_to_cell to purser_live;
