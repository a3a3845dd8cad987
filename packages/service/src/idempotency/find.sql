-- The kept answer of a call that was charged: real money by its receipt, play money by its settlement. An answer that was
-- kept before a crash, but never charged, is given to nobody (CC-14).
create or replace function idempotency.find(p_call uuid) returns table (sealed bytea, charged bigint)
language sql volatile security definer set search_path = pg_catalog as $$
  select a.sealed, coalesce(c.charged_micros, a.charged_micros)
  from idempotency.kept_answers a
  left join usage.calls c on c.call_id = a.call_id and c.outcome = 'answered'
  where a.call_id = p_call and a.expires_at > clock_timestamp()
    and coalesce(c.charged_micros, a.charged_micros) is not null
$$;

revoke all on function idempotency.find from public;
grant execute on function idempotency.find to purser_live;
