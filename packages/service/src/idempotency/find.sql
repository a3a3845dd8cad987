-- The kept answer of a call that was charged: real money by its receipt, play money by its settlement. An answer that was
-- kept before a crash, but never charged, is given to nobody (CC-14).
create or replace function idempotency.find(p_call uuid) returns table (sealed bytea, charged bigint)
language sql volatile security definer set search_path = pg_catalog set enable_seqscan = off as $$
  select a.sealed, coalesce(c.charged_micros, a.charged_micros)
  from idempotency.kept_answers a
  left join lateral (
    select k.charged_micros from usage.calls k where k.call_id = a.call_id and k.outcome = 'answered' offset 0
  ) c on true
  where a.call_id = p_call and a.expires_at > clock_timestamp()
    and coalesce(c.charged_micros, a.charged_micros) is not null
$$;

revoke all on function idempotency.find from public;
grant execute on function idempotency.find to purser_live;
