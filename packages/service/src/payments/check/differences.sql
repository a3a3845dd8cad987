-- Compares what payments, refunds and disputes say was booked with the entries of the ledger: a row for each entry that is
-- not there or has another amount, and for each entry of a payment that nobody here knows. One statement, so one snapshot.
create or replace function payments.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set jit = off as $$
  with booked as (
    select 'a payment is credited once, as it came' as rule, p.app_id, p.user_id, array['top_up']::ledger.entry_kind[] as kinds,
      p.payment_id as key, case p.state when 'credited' then p.amount_micros else 0 end as amount
    from payments.payments p
    union all
    select 'a refund is set aside as it was asked for', r.app_id, r.user_id, array['refund_set_aside']::ledger.entry_kind[],
      r.refund_id, r.amount_micros
    from payments.refunds r where r.booked_as = 'set_aside'
    union all
    select 'what is set aside ends when its refund does', r.app_id, r.user_id,
      array['refund_paid', 'refund_released']::ledger.entry_kind[], r.refund_id,
      case r.state when 'asked' then 0 else r.amount_micros end
    from payments.refunds r where r.booked_as = 'set_aside'
    union all
    select 'a refund that was not set aside is taken', r.app_id, r.user_id,
      array['refund', 'refund_receivable']::ledger.entry_kind[], 'payment ' || r.refund_id,
      case r.booked_as when 'taken' then r.amount_micros else 0 end
    from payments.refunds r where r.booked_as is distinct from 'set_aside'
    union all
    select 'a movement of a dispute is booked once', p.app_id, p.user_id,
      case when m.is_reinstated then array['funds_reinstated'] else array['claw_back', 'claw_back_receivable'] end::ledger.entry_kind[],
      m.processor || ' ' || m.processor_movement, case when m.is_booked then m.amount_micros else 0 end
    from payments.dispute_movements m join payments.payments p using (payment_id)
  )
  select b.rule, coalesce(w.wallet_id, 0), b.amount, e.amount
  from booked b
  left join ledger.wallets w on w.app_id = b.app_id and w.user_id = b.user_id
  cross join lateral (
    select coalesce(sum(n.amount_micros), 0)::bigint as amount
    from unnest(b.kinds) k (kind)
    join ledger.acts n on n.kind = k.kind
      and n.cause = ledger.cause_of(w.wallet_id, case k.kind
        when 'refund_receivable' then 'refund' when 'claw_back_receivable' then 'claw_back' else k.kind end, b.key)
  ) e
  where e.amount <> b.amount
  union all
  select 'an entry of a payment has its payment', e.wallet_id, 0, e.amount_micros
  from ledger.acts e
  where e.kind = 'top_up' and split_part(e.cause, ':', 3) like 'pay\_%'
    and not exists (select from ledger.leaving l where l.wallet_id = e.wallet_id and l.left_at is not null) -- Its payments left with it.
    and not exists (select from payments.payments p where p.payment_id = split_part(e.cause, ':', 3) and p.state = 'credited')
$$;

revoke all on function payments.differences from public;
grant execute on function payments.differences to purser_live;
