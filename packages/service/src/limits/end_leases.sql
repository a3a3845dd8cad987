-- Ends the leases of a bucket that are over, and gives what lies in it at the last of these ends (`from_us`), and the tokens
-- that are still out. The bucket could fill up to more as each of them ended, and not before.
create or replace function limits.end_leases(
  p_app text, p_per_minute int, p_full bigint, p_units bigint, p_from_us bigint, p_now_us bigint,
  out units bigint, out from_us bigint, out tokens_out bigint
)
language plpgsql as $$
declare
  token_units constant bigint := 60000000;
  has_ended boolean;
  ended record;
begin
  units := p_units;
  from_us := p_from_us;
  select coalesce(sum(a.tokens), 0), bool_or(a.until_us <= p_now_us) into tokens_out, has_ended
  from limits.token_leases a where a.app_id = p_app;
  if has_ended is not true then
    return;
  end if;
  for ended in
    select a.tokens, a.until_us from limits.token_leases a where a.app_id = p_app and a.until_us <= p_now_us order by a.until_us
  loop
    units := limits.refilled(units, greatest(0, p_full - tokens_out * token_units), p_per_minute, ended.until_us - from_us);
    from_us := ended.until_us;
    tokens_out := tokens_out - ended.tokens;
  end loop;
  delete from limits.token_leases a where a.app_id = p_app and a.until_us <= p_now_us;
end $$;

revoke all on function limits.end_leases from public;
