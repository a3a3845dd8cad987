-- Books money that went out: a 'refund' by us, a 'claw_back' by a bank. It takes what is there, also what calls hold. The
-- rest is owed and suspends the wallet (WA-05, WA-06). Answers as ledger.credit does.
create or replace function ledger.take_back(p_app text, p_user text, p_kind text, p_amount bigint, p_key text) returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
  kind constant ledger.entry_kind := p_kind;
  owed_kind constant ledger.entry_kind := p_kind || '_receivable';
  wallet ledger.wallets;
  entry_cause text;
  before text;
  there bigint;
begin
  perform ledger.refuse_amount(p_amount);
  if kind not in ('refund', 'claw_back') then
    raise exception '% takes nothing back', p_kind using errcode = '22023';
  end if;
  wallet := ledger.lock_wallet(p_app, p_user);
  if wallet.wallet_id is null then
    return 'no_wallet';
  end if;
  entry_cause := ledger.cause_of(wallet.wallet_id, kind, p_key);
  before := ledger.booked_before(entry_cause, array[kind, owed_kind], p_amount);
  if before is not null then
    return before;
  end if;
  there := least(p_amount, wallet.balance_micros);
  if there > 0 then
    perform ledger.move(wallet.wallet_id, kind, entry_cause, there);
  end if;
  if p_amount > there then
    perform ledger.move(wallet.wallet_id, owed_kind, entry_cause, p_amount - there);
  end if;
  return 'booked';
end $$;

revoke all on function ledger.take_back from public;
grant execute on function ledger.take_back to purser_live;
