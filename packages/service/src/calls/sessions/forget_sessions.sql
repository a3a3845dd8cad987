-- Removes the sessions of a wallet (CP-19). Receipts stay, and belong to none from then on.
create or replace function usage.forget_sessions(p_wallet bigint) returns void
language sql volatile set search_path = pg_catalog as $$
  with gone as (
    delete from usage.sessions s where s.wallet_id = p_wallet returning s.session_id
  )
  delete from usage.session_calls c using gone g where c.session_id = g.session_id;
$$;

revoke all on function usage.forget_sessions from public;
