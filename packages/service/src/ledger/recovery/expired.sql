-- How a call ends whose process died: without a charge, and with nothing known of it (WA-10).
create or replace function ledger.expired(p_call uuid) returns ledger.settlement
language sql immutable parallel safe as $$
  select row(
    p_call,
    0, -- charge_micros
    'expired',
    null, null, -- model, price_id
    false, false, -- is_estimated, is_usage_clamped
    0, 0, 0, 0, -- Tokens: prompt, cached, completion, reasoning.
    null, -- correlation_id
    false, -- is_unkept
    0, -- cache_write_tokens
    null -- rare_counts
  )::ledger.settlement
$$;

revoke all on function ledger.expired from public;
