-- As ledger.reserve, over sandbox wallets. A user's first call makes the wallet with the grant (SB-01), and so does the
-- first one after 30 idle days (SB-08).
create or replace function sandbox.reserve(p_instance bigint, p_grant bigint, p_requests db.hold_request[])
returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint, earlier uuid)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked record;
  wallet sandbox.wallets;
  month date;
  largest bigint;
begin
  perform set_config('synchronous_commit', 'off', true); -- play money may be lost with the power.
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  for asked in
    select q.* from unnest(p_requests) with ordinality q
    order by q.app_id collate "C", q.user_id collate "C", q.ordinality -- Every writer locks in this order, the columns' own.
  loop
    insert into sandbox.wallets (app_id, user_id, balance_micros) values (asked.app_id, asked.user_id, p_grant)
    on conflict (app_id, user_id) do update set
      balance_micros = p_grant, cap_micros = null, cap_spent_micros = 0, is_suspended = false, requests = 0, tokens = 0
      where wallets.last_used_at < clock_timestamp() - interval '30 days' and wallets.held_micros = 0;
    select * into wallet from sandbox.wallets w where w.app_id = asked.app_id and w.user_id = asked.user_id for update;
    month := greatest(wallet.cap_month, db.current_month());
    if wallet.cap_month < month then
      wallet.cap_spent_micros := 0;
      wallet.cap_held_micros := 0;
    end if;
    call_id := asked.call_id;
    wallet_id := wallet.wallet_id;
    earlier := null;
    select h.amount_micros into granted from sandbox.holds h where h.call_id = asked.call_id;
    if found then
      outcome := 'granted';
      return next;
      continue;
    end if;
    -- A suspended wallet gets no earlier answer, and no wallet one from before its reset (CC-14, SB-05).
    if asked.joins and not wallet.is_suspended then
      select e.call_id, case when e.body_digest <> asked.body_digest then 'attempt_conflict'
        when e.is_running then 'attempt_running' else 'attempt_kept' end
      into earlier, outcome
      from (
        select a.call_id, a.body_digest, false as is_running, false as is_joined, a.kept_at as since
        from idempotency.kept_answers a
        where a.key_digest = asked.key_digest and a.expires_at > clock_timestamp() and a.charged_micros is not null
          and a.kept_at > coalesce(wallet.reset_at, '-infinity')
        union all
        select h.call_id, h.body_digest, true, h.is_joined, h.placed_at
        from sandbox.holds h where h.key_digest = asked.key_digest and h.wallet_id = wallet.wallet_id
      ) e
      order by e.call_id is distinct from asked.joined_call, e.is_running, e.is_joined, e.since limit 1;
      if found then
        granted := 0;
        update sandbox.holds h set is_joined = true
        where outcome = 'attempt_running' and h.call_id = earlier and not h.is_joined;
        return next;
        continue;
      end if;
    end if;
    -- A test user is always connected: there is nobody to consent.
    largest := db.largest_hold(true, wallet.is_suspended, wallet.balance_micros, wallet.held_micros, wallet.cap_micros,
      wallet.cap_spent_micros, wallet.cap_held_micros);
    outcome := db.hold_outcome(largest, asked.least_micros, true, wallet.is_suspended, wallet.balance_micros,
      wallet.cap_micros, wallet.cap_spent_micros, wallet.cap_held_micros, wallet.open_streams, asked.streams_max);
    granted := case when outcome = 'granted' then db.granted_hold(largest, asked.least_micros, asked.most_micros) else 0 end;
    return next;
    if outcome = 'granted' then
      insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id, key_digest, body_digest)
      values (asked.call_id, wallet.wallet_id, granted, month, asked.streams_max > 0, p_instance, asked.key_digest,
        asked.body_digest);
    end if;
    update sandbox.wallets w set
      held_micros = w.held_micros + granted,
      open_streams = w.open_streams + (outcome = 'granted' and asked.streams_max > 0)::int,
      cap_month = month,
      cap_spent_micros = wallet.cap_spent_micros,
      cap_held_micros = wallet.cap_held_micros + granted,
      last_used_at = clock_timestamp()
    where w.wallet_id = wallet.wallet_id;
  end loop;
end $$;

revoke all on function sandbox.reserve from public;
grant execute on function sandbox.reserve to purser_sandbox;
