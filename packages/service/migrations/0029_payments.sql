-- Payments by a processor. Locks: none that matter, everything is new.

create schema payments;
grant usage on schema payments to purser_live;

-- A place where somebody may pay, at the processor. Nothing counts that happens there until the processor says so. Whoever
-- changes what is known of its payment locks this row first, and the wallet after it.
create table payments.checkouts (
  checkout_id text collate "C" primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  identity_id text collate "C", -- Who began it.
  amount_micros bigint not null check (amount_micros > 0),
  currency char(3) not null,
  processor text not null,
  processor_checkout text collate "C", -- By what the processor knows it; null until it has answered.
  link_digest bytea, -- Of the link by which it was begun: a payment spends it (BI-04).
  created_at timestamptz not null default clock_timestamp(),
  -- When somebody looks there although no notice came; null: never again.
  next_look_at timestamptz default clock_timestamp() + interval '1 minute',
  unique (processor, processor_checkout)
);
create index checkouts_of on payments.checkouts (app_id, user_id, created_at);
create index checkouts_by_link on payments.checkouts (link_digest) where link_digest is not null;
create index checkouts_to_look_at on payments.checkouts (next_look_at) where next_look_at is not null;

-- What a processor has confirmed.
create table payments.payments (
  payment_id text collate "C" primary key,
  checkout_id text collate "C" not null references payments.checkouts,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  processor text not null,
  processor_payment text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0), -- As received, not as asked for.
  currency char(3) not null,
  -- credited: in the wallet; kept: not in any, an operator must look. Neither becomes the other.
  state text not null check (state in ('credited', 'kept')),
  -- What was other than it should be.
  oddity text check (oddity in ('amount', 'currency', 'second', 'no_wallet', 'too_much')),
  paid_at timestamptz not null default clock_timestamp(),
  unique (processor, processor_payment),
  check (state = 'credited' or oddity is not null)
);
create index payments_of on payments.payments (app_id, user_id, paid_at);
create index payments_by_checkout on payments.payments (checkout_id);

-- A refund, asked for here or there.
create table payments.refunds (
  refund_id text collate "C" primary key,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  -- asked: the processor was told, or is about to be; paid: the money has left; declined: it stays, or has come back.
  state text not null check (state in ('asked', 'paid', 'declined')),
  -- How it left the wallet: set_aside when it was asked for, taken when it was heard of; null where it did not.
  booked_as text check (booked_as in ('set_aside', 'taken')),
  processor text not null,
  processor_refund text collate "C", -- By what the processor knows it, once it was seen there.
  is_ours boolean not null, -- False: made at the processor.
  -- Whose request it is part of; a key counts once for each wallet.
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  request_key text collate "C",
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  next_look_at timestamptz default clock_timestamp() + interval '1 minute',
  unique (processor, processor_refund),
  check (is_ours = (request_key is not null))
);
create index refunds_of on payments.refunds (payment_id);
create index refunds_by_request on payments.refunds (app_id, user_id, request_key) where request_key is not null;
create index refunds_to_look_at on payments.refunds (next_look_at) where state = 'asked';

-- Each movement of a dispute, once: money that a bank took, or gave back.
create table payments.dispute_movements (
  processor text not null,
  processor_movement text collate "C" not null,
  payment_id text collate "C" not null references payments.payments,
  amount_micros bigint not null check (amount_micros > 0),
  is_reinstated boolean not null,
  is_booked boolean not null, -- False: it is of a payment that is in no wallet, or found no room there.
  at timestamptz not null default clock_timestamp(),
  primary key (processor, processor_movement)
);
create index dispute_movements_of on payments.dispute_movements (payment_id);

-- Verified notices that were taken, by their ids.
create table payments.notices (
  processor text not null,
  notice_id text collate "C" not null,
  type text not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (processor, notice_id)
);
create index notices_by_age on payments.notices (received_at);

grant select, insert, update on payments.checkouts, payments.payments, payments.refunds to purser_live;
grant select, insert on payments.dispute_movements to purser_live;
grant select, insert, delete on payments.notices to purser_live;

-- What payments, refunds and disputes say was booked, against the entries of the ledger: a row for each that is not there, or of
-- another amount, and for each entry of a payment that nobody here knows. One statement, so one snapshot.
create function payments.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
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
    join ledger.entries n on n.kind = k.kind
      and n.cause = ledger.cause_of(w.wallet_id, case k.kind
        when 'refund_receivable' then 'refund' when 'claw_back_receivable' then 'claw_back' else k.kind end, b.key)
  ) e
  where e.amount <> b.amount
  union all
  select 'an entry of a payment has its payment', e.wallet_id, 0, e.amount_micros
  from ledger.entries e
  where e.kind = 'top_up' and split_part(e.cause, ':', 3) like 'pay\_%'
    and not exists (select from payments.payments p where p.payment_id = split_part(e.cause, ':', 3) and p.state = 'credited')
$$;

revoke all on function payments.differences from public;
grant execute on function payments.differences to purser_live;
