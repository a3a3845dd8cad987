-- The kept answers of charged calls of a slot that is leaving, as rows of their table. Their receipts stay behind, so they say themselves that
-- their call is charged (CC-14). Those that came from another cell say so already, and name no user: all of them go along, for the few minutes that
-- they are kept.
create or replace function ledger.kept_answers_of_slot(p_slot integer) returns setof jsonb
language sql stable set search_path = pg_catalog as $$
  select to_jsonb(a) || jsonb_build_object('charged_micros', c.charged_micros)
  from idempotency.kept_answers a
  cross join lateral (
    select k.wallet_id, k.charged_micros from usage.calls k where k.call_id = a.call_id and k.outcome = 'answered' offset 0
  ) c
  join ledger.leaving l on l.wallet_id = c.wallet_id
  where l.slot = p_slot and l.left_at is null and a.expires_at > clock_timestamp()
  union all
  select to_jsonb(a) from idempotency.kept_answers a
  where a.charged_micros is not null and a.expires_at > clock_timestamp()
    and not exists (select from usage.calls k where k.call_id = a.call_id)
$$;

revoke all on function ledger.kept_answers_of_slot from public;
