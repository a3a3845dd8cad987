-- The holds that a turn is asked for, with their wallets. A wallet is read only if it is connected, as in
-- ledger.lock_wallets; whether it still is under its lock, db.largest_hold sees. A call whose API key has a budget is left
-- out: a budget is of many wallets (CP-08). PostgreSQL takes this function into the statement of a turn.
create or replace function ledger.asked_holds(p_requests db.hold_request[], p_instances bigint[]) returns table (
  call_id uuid, amount bigint, streams_max int, calls_max int, key_digest bytea, body_digest bytea, instance_id bigint, wallet_id bigint
)
language sql stable parallel safe as $$
  select q.call_id, q.most_micros, q.streams_max, q.calls_max, q.key_digest, q.body_digest, q.instance_id, w.wallet_id
  from unnest(p_requests, p_instances) q (call_id, app_id, user_id, least_micros, most_micros, streams_max, key_digest,
    body_digest, joins, joined_call, calls_max, budget_key, budget_micros, instance_id)
  cross join lateral (
    select v.wallet_id from ledger.wallets v
    where v.app_id || ' ' || v.user_id = q.app_id || ' ' || q.user_id and v.is_connected offset 0
  ) w
  where q.budget_key is null
$$;

revoke all on function ledger.asked_holds from public;
