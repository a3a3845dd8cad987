-- Play money. Nothing here reaches real wallets, usage or events, and the role that calls these functions has no right
-- on any of them (SB-03). Locks: none that matter, everything is new.

create schema sandbox;
grant usage on schema sandbox to purser_sandbox;

create table sandbox.wallets (
  wallet_id bigint generated always as identity primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  balance_micros bigint not null check (balance_micros between 0 and 9007199254740991),
  held_micros bigint not null default 0 check (held_micros between 0 and balance_micros),
  cap_micros bigint check (cap_micros between 0 and 9007199254740991),
  cap_month date not null default '1970-01-01',
  cap_spent_micros bigint not null default 0 check (cap_spent_micros >= 0),
  cap_held_micros bigint not null default 0 check (cap_held_micros >= 0),
  is_suspended boolean not null default false,
  open_streams int not null default 0 check (open_streams >= 0),
  requests bigint not null default 0,
  tokens bigint not null default 0,
  last_used_at timestamptz not null default clock_timestamp(),
  unique (app_id, user_id)
) with (fillfactor = 50);

create table sandbox.holds (
  call_id uuid primary key,
  wallet_id bigint not null,
  amount_micros bigint not null check (amount_micros > 0),
  month date not null,
  is_stream boolean not null,
  instance_id bigint not null,
  placed_at timestamptz not null default clock_timestamp()
);

-- As ledger.reserve, over fake wallets. A user's first call makes the wallet with the grant (SB-01), and so does the
-- first one after 30 idle days (SB-08).
create function sandbox.reserve(
  p_instance bigint, p_call uuid[], p_app text[], p_user text[], p_min bigint[], p_max bigint[], p_streams_max int[], p_grant bigint
) returns table (call_id uuid, outcome text, wallet_id bigint, granted bigint)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked record;
  wallet sandbox.wallets;
  month date;
begin
  perform set_config('synchronous_commit', 'off', true); -- Fake money may be lost with the power.
  if not exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live') then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  for asked in
    select q.* from unnest(p_call, p_app, p_user, p_min, p_max, p_streams_max) with ordinality
      as q (call_id, app_id, user_id, least_amount, most_amount, streams_max, place)
    order by q.app_id collate "C", q.user_id collate "C", q.place -- Every writer locks in this order, the columns' own.
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
    select h.amount_micros into granted from sandbox.holds h where h.call_id = asked.call_id;
    if found then
      outcome := 'granted';
      return next;
      continue;
    end if;
    outcome := db.hold_outcome(true, wallet.is_suspended, wallet.balance_micros - wallet.held_micros, wallet.cap_micros,
      wallet.cap_spent_micros, wallet.cap_held_micros, wallet.open_streams, asked.streams_max, asked.least_amount);
    granted := case when outcome = 'granted' then least(asked.most_amount, wallet.balance_micros - wallet.held_micros,
      coalesce(wallet.cap_micros - wallet.cap_spent_micros - wallet.cap_held_micros, asked.most_amount)) else 0 end;
    return next;
    if outcome = 'granted' then
      insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
      values (asked.call_id, wallet.wallet_id, granted, month, asked.streams_max > 0, p_instance);
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

-- As ledger.settle, over fake wallets: ends each call that still holds, once. Counts what was answered.
create function sandbox.settle(p_call uuid[], p_charge bigint[], p_tokens bigint[])
returns table (call_id uuid, is_settled boolean, charged bigint)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  ended record;
  hold sandbox.holds;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform from sandbox.wallets w
  where w.wallet_id in (select h.wallet_id from sandbox.holds h where h.call_id = any (p_call))
  order by w.app_id, w.user_id for update;
  for ended in select * from unnest(p_call, p_charge, p_tokens) as q (call_id, charge, tokens) loop
    delete from sandbox.holds h where h.call_id = ended.call_id returning h.* into hold;
    call_id := ended.call_id;
    is_settled := found;
    charged := case when is_settled then least(ended.charge, hold.amount_micros) else 0 end;
    return next;
    update sandbox.wallets w set
      balance_micros = w.balance_micros - charged,
      held_micros = w.held_micros - hold.amount_micros,
      open_streams = w.open_streams - hold.is_stream::int,
      cap_spent_micros = w.cap_spent_micros + case when w.cap_month = hold.month then charged else 0 end,
      cap_held_micros = w.cap_held_micros - case when w.cap_month = hold.month then hold.amount_micros else 0 end,
      requests = w.requests + (ended.tokens > 0)::int,
      tokens = w.tokens + ended.tokens
    where is_settled and w.wallet_id = hold.wallet_id;
  end loop;
end $$;

-- Releases the holds of fenced processes, as ledger.reap does; that one fences them.
create function sandbox.reap(p_most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  released int;
begin
  select count(*) filter (where s.is_settled) into released
  from (
    select array_agg(o.call_id) as calls, array_agg(0::bigint) as zero from (
      select h.call_id from sandbox.holds h join db.instances i on i.instance_id = h.instance_id
      where i.state = 'dead' limit p_most
    ) o
  ) a, lateral sandbox.settle(a.calls, a.zero, a.zero) s;
  return released;
end $$;

revoke all on all functions in schema sandbox from public;
grant execute on function sandbox.reserve, sandbox.settle, sandbox.reap to purser_sandbox;
