-- As ledger.settle, over sandbox wallets: ends each call that still holds, once. It counts what was answered, and tells the
-- kept answer what the call cost: play money has no receipts, and without its charge an answer is given to nobody.
create or replace function sandbox.settle(p_settlements sandbox.settlement[])
returns table (call_id uuid, is_settled boolean, charged bigint, is_joined boolean)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  ended record;
  hold sandbox.holds;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform from sandbox.wallets w
  where w.wallet_id in (
    select h.wallet_id from sandbox.holds h where h.call_id = any (array(select q.call_id from unnest(p_settlements) q))
  )
  order by w.app_id, w.user_id for update;
  for ended in select q.* from unnest(p_settlements) q loop
    delete from sandbox.holds h
    where h.call_id = ended.call_id and not (h.is_joined and ended.is_unkept) returning h.* into hold;
    call_id := ended.call_id;
    is_settled := found;
    is_joined := not is_settled and exists (select from sandbox.holds h where h.call_id = ended.call_id);
    charged := case when is_settled then least(ended.charge_micros, hold.amount_micros) else 0 end;
    return next;
    update idempotency.kept_answers a set charged_micros = charged
    where is_settled and hold.key_digest is not null and ended.tokens > 0 and a.call_id = ended.call_id;
    update sandbox.wallets w set
      balance_micros = w.balance_micros - charged,
      held_micros = w.held_micros - hold.amount_micros,
      open_streams = w.open_streams - hold.is_stream::int,
      open_calls = w.open_calls - (not hold.is_stream)::int,
      cap_spent_micros = w.cap_spent_micros + case when w.cap_month = hold.month then charged else 0 end,
      cap_held_micros = w.cap_held_micros - case when w.cap_month = hold.month then hold.amount_micros else 0 end,
      requests = w.requests + (ended.tokens > 0)::int,
      tokens = w.tokens + ended.tokens
    where is_settled and w.wallet_id = hold.wallet_id;
  end loop;
end $$;

revoke all on function sandbox.settle from public;
grant execute on function sandbox.settle to purser_sandbox;
