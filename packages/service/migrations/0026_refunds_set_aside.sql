-- Refunds by the payment processor: what is asked for is set aside first, so that no call can spend it meanwhile.
-- Locks: short ones on functions.

create or replace function ledger.debit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'refund', 'claw_back', 'recovery', 'refund_set_aside') then 'wallet'
  when p_kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated') then 'processor'
  when p_kind in ('refund_paid', 'refund_released') then 'outgoing'
  when p_kind = 'contract_credit' then 'contract'
  when p_kind in ('write_off', 'charge_overrun') then 'loss'
end::ledger.book;

create or replace function ledger.credit_of(p_kind ledger.entry_kind) returns ledger.book
language sql immutable parallel safe
return case
  when p_kind in ('charge', 'charge_receivable', 'charge_overrun') then 'earned'
  when p_kind in ('refund', 'refund_receivable', 'claw_back', 'claw_back_receivable', 'refund_paid') then 'processor'
  when p_kind in ('recovery', 'write_off') then 'receivable'
  when p_kind in ('top_up', 'funds_reinstated', 'contract_credit', 'refund_released') then 'wallet'
  when p_kind = 'refund_set_aside' then 'outgoing'
end::ledger.book;

-- Sets an amount aside for a refund: 'booked'; 'repeated' and 'conflict' as ledger.credit has them; 'too_little' where less
-- than this is there that no call holds; 'suspended' where the wallet is; 'no_wallet'.
create function ledger.set_aside(p_app text, p_user text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wallet ledger.wallets;
  entry_cause text;
  before text;
begin
  perform ledger.refuse_amount(p_amount);
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, 'refund_set_aside', p_key);
  before := ledger.booked_before(entry_cause, array['refund_set_aside']::ledger.entry_kind[], p_amount);
  if before is not null then
    return before;
  end if;
  if wallet.is_suspended then
    return 'suspended';
  end if;
  if wallet.balance_micros - wallet.held_micros < p_amount then
    return 'too_little';
  end if;
  perform ledger.move(wallet.wallet_id, 'refund_set_aside', entry_cause, p_amount);
  return 'booked';
end $$;

-- Ends what was set aside under a key: 'refund_paid', or 'refund_released'. 'booked', or 'repeated' where it ended so before;
-- 'conflict' where it ended the other way; 'too_much' where what is released would pass the largest balance; 'nothing' where none
-- was set aside; 'no_wallet'.
create function ledger.end_set_aside(p_app text, p_user text, p_kind text, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  wallet ledger.wallets;
  amount bigint;
  ended ledger.entry_kind;
begin
  if kind not in ('refund_paid', 'refund_released') then
    raise exception '% ends nothing that was set aside', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  select e.amount_micros into amount from ledger.entries e
  where e.kind = 'refund_set_aside' and e.cause = ledger.cause_of(wallet.wallet_id, 'refund_set_aside', p_key);
  if amount is null then
    return 'nothing';
  end if;
  select e.kind into ended from ledger.entries e
  where (e.kind = 'refund_paid' and e.cause = ledger.cause_of(wallet.wallet_id, 'refund_paid', p_key))
    or (e.kind = 'refund_released' and e.cause = ledger.cause_of(wallet.wallet_id, 'refund_released', p_key));
  if ended is not null then
    return case when ended = kind then 'repeated' else 'conflict' end;
  end if;
  if kind = 'refund_released' and amount > 9007199254740991 - wallet.balance_micros then
    return 'too_much'; -- It stays set aside, and may be released later.
  end if;
  perform ledger.move(wallet.wallet_id, kind, ledger.cause_of(wallet.wallet_id, kind, p_key), amount);
  return 'booked';
end $$;

-- The full check looks after what is set aside too. What it looked for before, it looks for as before.
alter function ledger.differences() rename to wallet_differences;

create function ledger.differences() returns table (rule text, wallet_id bigint, expected bigint, found bigint)
language sql stable security definer set search_path = pg_catalog set work_mem = '64MB' set jit = off as $$
  with asides as (
    select e.wallet_id, substr(e.cause, length(e.kind::text) + 1) as name,
      coalesce(sum(e.amount_micros) filter (where e.kind = 'refund_set_aside'), 0)::bigint as aside,
      coalesce(sum(e.amount_micros) filter (where e.kind <> 'refund_set_aside'), 0)::bigint as ended,
      count(*) filter (where e.kind <> 'refund_set_aside') as ends
    from ledger.entries e where e.kind in ('refund_set_aside', 'refund_paid', 'refund_released')
    group by e.wallet_id, name
  )
  select * from ledger.wallet_differences()
  union all
  select 'what is set aside ends once, and whole', a.wallet_id, a.aside, a.ended
  from asides a where a.ends > 0 and (a.ends > 1 or a.ended <> a.aside)
  union all
  select 'no more is paid out or released than was set aside', a.wallet_id, sum(a.aside)::bigint, sum(a.ended)::bigint
  from asides a group by a.wallet_id having sum(a.ended) > sum(a.aside)
$$;

revoke all on function ledger.set_aside, ledger.end_set_aside, ledger.differences from public;
grant execute on function ledger.set_aside, ledger.end_set_aside, ledger.differences to purser_live;
