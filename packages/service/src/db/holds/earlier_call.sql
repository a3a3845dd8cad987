-- The call that a retry finds by its idempotency key (CC-14): one that holds, or one whose answer is kept and whose charge
-- is booked. No row if there is none. `attempt_conflict`: the earlier one had another body. Among several, the one that the
-- retry has joined before comes first, then a kept answer, then a running one that nobody has joined. `p_amounts` and
-- `p_joined` tell of the calls of the batch that were judged before: their holds are not stored yet.
create or replace function money.earlier_call(
  p_retry db.hold_request, p_wallet bigint, p_requests db.hold_request[], p_amounts bigint[], p_joined uuid[],
  out call_id uuid, out outcome text
)
language plpgsql as $$
#variable_conflict use_column
begin
  select e.call_id, case when e.body_digest <> p_retry.body_digest then 'attempt_conflict'
    when e.is_running then 'attempt_running' else 'attempt_kept' end
  into call_id, outcome
  from (
    select a.call_id, a.body_digest, false as is_running, false as is_joined, a.kept_at as since
    from idempotency.kept_answers a
    where a.key_digest = p_retry.key_digest and a.expires_at > clock_timestamp()
      and (a.charged_micros is not null -- In another cell. -- Real money.
        or exists (select from usage.calls c where c.call_id = a.call_id and c.outcome = 'answered' offset 0)) -- Real money.
      and a.charged_micros is not null -- Play money.
      and a.kept_at > (select coalesce(w.reset_at, '-infinity') from sandbox.wallets w where w.wallet_id = p_wallet) -- Play money.
    union all
    select h.call_id, h.body_digest, true, h.is_joined or h.call_id = any (p_joined), h.placed_at
    from money.holds h where h.key_digest = p_retry.key_digest and h.wallet_id = p_wallet
    union all
    select b.call_id, b.body_digest, true, b.call_id = any (p_joined), null
    from unnest(p_requests) with ordinality b
    where b.key_digest = p_retry.key_digest and p_amounts[b.ordinality] > 0
  ) e
  order by e.call_id is distinct from p_retry.joined_call, e.is_running, e.is_joined, e.since limit 1;
end $$;

revoke all on function money.earlier_call from public;
