-- What about a payment waits for a person (decision 0068). A case is opened by the booking that needs a decision and closed by
-- the act that solves it, or by a later booking. One that comes back is a new row, so that an old form solves nothing twice.
create table payments.cases (
  case_id text collate "C" primary key,
  payment_id text collate "C" not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  kind text not null check (kind in ('kept', 'refund_unknown', 'refund_not_released', 'refund_not_returned', 'refund_not_taken',
    'dispute_not_booked', 'other_currency', 'wallet_suspended')),
  subject text collate "C" not null, -- The payment, refund or movement of a dispute.
  opened_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  closed_as text,
  check ((closed_at is null) = (closed_as is null))
);
create unique index cases_open on payments.cases (subject, kind) where closed_at is null;
create index cases_open_of_wallet on payments.cases (app_id, user_id) where closed_at is null;
create index cases_of on payments.cases (payment_id, opened_at);
grant select, insert, update on payments.cases to purser_live;

-- The processor's id of a movement stays out of addresses and lists.
alter table payments.dispute_movements add column movement_id text collate "C" not null
  default 'dsp_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 22);
create unique index dispute_movements_by_id on payments.dispute_movements (movement_id);
grant update on payments.dispute_movements to purser_live;

-- The lists of operators, newest first: of everybody, and of one app. Six more rows of an index for each payment.
create index checkouts_newest on payments.checkouts (created_at, checkout_id);
create index checkouts_of_app on payments.checkouts (app_id, created_at, checkout_id);
create index payments_newest on payments.payments (paid_at, payment_id);
create index payments_of_app on payments.payments (app_id, paid_at, payment_id);
create index refunds_newest on payments.refunds (created_at, refund_id);
create index refunds_of_app on payments.refunds (app_id, created_at, refund_id);
create index dispute_movements_newest on payments.dispute_movements (at, movement_id);

-- What waited before there were cases: kept payments that were not paid back, and movements that the wallet did not follow.
insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject, opened_at)
select 'cas_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 22), p.payment_id, p.app_id, p.user_id, 'kept',
  p.payment_id, p.paid_at
from payments.payments p
where p.state = 'kept' and p.amount_micros > (
  select coalesce(sum(r.amount_micros), 0) from payments.refunds r where r.payment_id = p.payment_id and r.state <> 'declined'
) + (
  select greatest(0, coalesce(sum(case when m.is_reinstated then -m.amount_micros else m.amount_micros end), 0))
  from payments.dispute_movements m where m.payment_id = p.payment_id
);
insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject, opened_at)
select 'cas_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 22), p.payment_id, p.app_id, p.user_id,
  'dispute_not_booked', m.movement_id, m.at
from payments.dispute_movements m join payments.payments p using (payment_id)
where p.state = 'credited' and not m.is_booked;
