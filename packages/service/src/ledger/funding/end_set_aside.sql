-- Ends what was set aside under a key: 'refund_paid' where the processor has paid it, 'refund_released' where it has
-- declined and the money returns. Answers 'booked'; 'repeated' where it ended so before; 'conflict' where it ended the
-- other way; 'too_much' where what is released would pass the largest balance; 'nothing' where none was set aside;
-- 'no_wallet'.
create or replace function ledger.end_set_aside(p_app text, p_user text, p_kind text, p_key text) returns text
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
  select e.amount_micros into amount from ledger.acts e
  where e.kind = 'refund_set_aside' and e.cause = ledger.cause_of(wallet.wallet_id, 'refund_set_aside', p_key);
  if amount is null then
    return 'nothing';
  end if;
  select e.kind into ended from ledger.acts e
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

revoke all on function ledger.end_set_aside from public;
grant execute on function ledger.end_set_aside to purser_live;
