-- Every answer tells what is left in the app's bucket. Locks: none that matter, one function is written anew.

-- Another column changes the type of its answer, so that it cannot be replaced in place. Older processes go on: they name
-- the columns that they read.
drop function limits.take(text[], int[], int[], int[]);

-- Takes up to `wanted` tokens from each app's bucket. `tokens_left`: whole ones, after that. `wait_ms`: when the next token
-- is there, where none was left. Rate and burst come with the call, so that an operator's change holds at once and cuts
-- what is in the bucket.
create function limits.take(p_app text[], p_wanted int[], p_per_minute int[], p_burst int[])
returns table (app_id text, granted int, tokens_left int, wait_ms int)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  token_units constant bigint := 60000000;
  asked record;
  bucket limits.buckets;
  now_us bigint;
  full_units bigint;
  available bigint;
begin
  -- A crash may give back the tokens of the last moments: no money hangs on them, so no commit waits for the disk.
  perform set_config('synchronous_commit', 'off', true);
  for asked in
    select * from unnest(p_app, p_wanted, p_per_minute, p_burst) as q (app, wanted, per_minute, burst) order by q.app
  loop
    full_units := asked.burst * token_units;
    insert into limits.buckets (app_id, units, refilled_at_us)
      values (asked.app, full_units, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
      on conflict do nothing;
    select * into bucket from limits.buckets b where b.app_id = asked.app for update;
    now_us := greatest(bucket.refilled_at_us, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
    -- No longer than a full refill takes, so that the product stays far below the range of a bigint.
    available := least(
      full_units,
      bucket.units + asked.per_minute * least(now_us - bucket.refilled_at_us, full_units / asked.per_minute + 1)
    );
    app_id := asked.app;
    granted := least(asked.wanted, available / token_units);
    available := available - granted * token_units;
    tokens_left := available / token_units;
    wait_ms := case when tokens_left > 0 then 0
      else ceil((token_units - available)::numeric / asked.per_minute / 1000)::int end;
    update limits.buckets b set units = available, refilled_at_us = now_us where b.app_id = asked.app;
    return next;
  end loop;
end $$;

revoke all on function limits.take from public;
grant execute on function limits.take to purser_live;
