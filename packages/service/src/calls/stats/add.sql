-- Adds the counts of two histograms, bucket by bucket. Null counts as none.
create or replace function stats.add(p_one bigint[], p_other bigint[]) returns bigint[]
language sql immutable parallel safe as $$
  select case when p_one is null then p_other when p_other is null then p_one
    else array(select coalesce(u.one, 0) + coalesce(u.other, 0)
      from unnest(p_one, p_other) with ordinality u (one, other, bucket) order by u.bucket) end
$$;

revoke all on function stats.add from public;
grant execute on function stats.add to purser_live;
