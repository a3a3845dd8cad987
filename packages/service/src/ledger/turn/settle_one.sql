-- Ends one call, as ledger.turn would, in simple statements: see ledger.place_one. False if the call is not ordinary, as none
-- is whose API key has a budget: it is left for ledger.settle.
create or replace function ledger.settle_one(p ledger.settlement, p_sessions db.named_session[] default null) returns boolean
language plpgsql security definer set search_path = pg_catalog
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  hold record;
  is_entry constant boolean := p.charge_micros > 0;
begin
  -- Found by its hold, as it was when the statement began. It may then wait for the wallet.
  update ledger.wallets w set
    balance_micros = w.balance_micros - p.charge_micros,
    held_micros = w.held_micros - h.amount_micros,
    open_streams = w.open_streams - h.is_stream::int,
    open_calls = w.open_calls - (not h.is_stream and h.drained_since is null)::int,
    cap_spent_micros = w.cap_spent_micros + p.charge_micros,
    cap_held_micros = w.cap_held_micros - h.amount_micros,
    entry_seq = w.entry_seq + is_entry::int,
    version = w.version + 1
  from ledger.holds h
  where h.call_id = p.call_id and h.budget_key is null and not (h.is_joined and p.is_unkept)
    and w.wallet_id = h.wallet_id
    and ledger.are_ordinary_ends(p.charge_micros <= h.amount_micros, w.is_clawed, w.cap_month, h.month, h.month)
  returning w.wallet_id, w.entry_seq, w.balance_micros, h.amount_micros, h.month, h.is_stream into hold;
  if hold is null then
    return false;
  end if;
  -- The row is read again here, as it is under the lock: a retry may have joined the call since.
  delete from ledger.holds h
  where h.call_id = p.call_id and h.is_stream = hold.is_stream and not (h.is_joined and p.is_unkept);
  if not found then
    raise exception 'a hold has changed' using errcode = '40001';
  end if;
  insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, is_usage_clamped,
    prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_micros, charged_micros,
    correlation_id, seq, balance_after_micros, rare_counts)
  values (p.call_id, hold.wallet_id, hold.month, p.model, p.price_id, p.outcome, p.is_estimated, p.is_usage_clamped,
    p.prompt_tokens, p.cached_tokens, p.cache_write_tokens, p.completion_tokens, p.reasoning_tokens, hold.amount_micros,
    p.charge_micros, p.correlation_id, case when is_entry then hold.entry_seq end,
    case when is_entry then hold.balance_micros end, p.rare_counts);
  if p_sessions is not null then
    perform usage.note_sessions(p_sessions);
  end if;
  return true;
end $$;

revoke all on function ledger.settle_one from public;
grant execute on function ledger.settle_one to purser_live;
