-- Takes up to `wanted` tokens from each app's bucket for calls that wait, and leases more for calls to come, so that the
-- holder has up to `leased` in all (LI-01). Rate and burst come with the call, so that an operator's change holds at once.
-- Leased tokens count as lying in the bucket until their holder gives them back or says how many it has spent, or the lease
-- ends. So bucket and leases together never hold more than the burst. That does not depend on holders.
--
-- `kept` and `back` are what the holder has of its lease and goes on with, and what it hands in. Answers for each app:
-- `is_held`: it had that much; if not, its lease has ended and nothing of it may be spent. `leased`: tokens that it has from
-- now on beside those kept. `tokens_left`: in the bucket, after that. `tokens_full`: the most that time adds up to there.
-- `wait_ms`: when the next token comes, where none was left.
create or replace function limits.lease_tokens(
  p_holder uuid, p_app text[], p_per_minute int[], p_burst int[],
  p_wanted int[], p_kept int[], p_back int[], p_leased int[]
)
returns table (
  app_id text, granted int, is_held boolean, leased int,
  tokens_left double precision, tokens_full double precision, wait_ms int
)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  token_units constant bigint := 60000000;
  lease_us constant bigint := 3000000; -- Three times as long as holders spend of a lease: time to give the rest back.
  shares constant int := 10; -- A lease is at most this part of the burst, and of what is in the bucket.
  sharers_max constant int := 5; -- All leases of a bucket together are at most so many shares.
  asked record;
  bucket limits.buckets;
  from_us bigint;
  now_us bigint;
  step_us constant bigint := 1000000; -- A bucket that is further ahead of the clock was refilled before a step back.
  full_units bigint;
  available bigint;
  tokens_out bigint;
  sharers int; -- Holders of a lease, this one included.
  own int;
begin
  -- A crash may give back the tokens of the last moments: no money hangs on them, so no commit waits for the disk.
  perform set_config('synchronous_commit', 'off', true);
  for asked in
    select * from unnest(p_app, p_per_minute, p_burst, p_wanted, p_kept, p_back, p_leased)
      as q (app, per_minute, burst, wanted, kept, back, leased)
    order by q.app
  loop
    full_units := asked.burst * token_units;
    insert into limits.buckets (app_id, units, refilled_at_us)
      values (asked.app, full_units, (extract(epoch from db.wall_clock()) * 1000000)::bigint)
      on conflict do nothing;
    select * into bucket from limits.buckets b where b.app_id = asked.app for update;
    now_us := (extract(epoch from db.wall_clock()) * 1000000)::bigint;
    if bucket.refilled_at_us > now_us + step_us then
      -- The clock was set back. The bucket goes on from here, and leases end when they would have without the step.
      update limits.token_leases a set until_us = a.until_us - bucket.refilled_at_us + now_us where a.app_id = asked.app;
      bucket.leases_until_us := bucket.leases_until_us - bucket.refilled_at_us + now_us;
      bucket.refilled_at_us := now_us;
    end if;
    now_us := greatest(bucket.refilled_at_us, now_us);
    from_us := bucket.refilled_at_us;
    available := bucket.units;
    tokens_out := 0;
    sharers := 1;
    own := 0;
    if bucket.leases_until_us > from_us then
      select e.units, e.from_us, e.tokens_out into available, from_us, tokens_out
      from limits.end_leases(asked.app, asked.per_minute, full_units, available, from_us, now_us) e;
      select 1 + count(*) filter (where a.holder <> p_holder), coalesce(sum(a.tokens) filter (where a.holder = p_holder), 0)
      into sharers, own from limits.token_leases a where a.app_id = asked.app;
    end if;
    available := limits.refilled(
      available, greatest(0, full_units - tokens_out * token_units), asked.per_minute, now_us - from_us
    );
    is_held := own >= asked.kept + asked.back;
    if is_held then
      available := available + asked.back * token_units;
      tokens_out := tokens_out - own + asked.kept;
    else
      asked.kept := 0;
      tokens_out := tokens_out - own;
    end if;
    available := least(available, greatest(0, full_units - tokens_out * token_units));

    app_id := asked.app;
    granted := least(asked.wanted, available / token_units);
    available := available - granted * token_units;
    -- Only of a bucket that is at least half full: one that runs low is shared token by token.
    leased := case when granted = asked.wanted and available * 2 >= full_units then
      greatest(0, least(
        asked.leased - asked.kept, asked.burst / shares - asked.kept,
        asked.burst * least(sharers, sharers_max)::bigint / shares - tokens_out, available / token_units / shares
      )) else 0 end;
    available := available - leased * token_units;
    tokens_out := tokens_out + leased;
    tokens_left := available::double precision / token_units;
    tokens_full := greatest(0, asked.burst - tokens_out);
    wait_ms := case when available >= token_units then 0
      else ceil((token_units - available)::numeric / asked.per_minute / 1000)::int end;

    if asked.kept + leased > 0 then
      insert into limits.token_leases as a (app_id, holder, tokens, until_us)
        values (asked.app, p_holder, asked.kept + leased, now_us + lease_us)
        on conflict (app_id, holder) do update set tokens = excluded.tokens, until_us = excluded.until_us;
      bucket.leases_until_us := greatest(bucket.leases_until_us, now_us + lease_us);
    elsif own > 0 then
      delete from limits.token_leases a where a.app_id = asked.app and a.holder = p_holder;
    end if;
    update limits.buckets b
      set units = available, refilled_at_us = now_us, leases_until_us = bucket.leases_until_us
      where b.app_id = asked.app;
    return next;
  end loop;
end $$;

revoke all on function limits.lease_tokens from public;
grant execute on function limits.lease_tokens to purser_live;
