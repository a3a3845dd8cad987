-- Tells an app when what can be spent of a wallet falls below the app's threshold, once for each crossing (WH-05). It hangs
-- on every change of wallets, by holds too. A statement changes a wallet once. What counts is the money before and after it:
-- a turn that settles and holds may free money and take it again, and nobody could have spent it in between. A wallet that is not connected tells nothing: its app must not learn that there is one (WA-02).
--
-- Nearly always no wallet that changed has less than the highest threshold that anybody has, and that is all that is looked
-- at. Otherwise what was there before is found by hashing: row by row it would be compared with all.
create or replace function webhooks.tell_low_balances() returns trigger
language plpgsql security definer set search_path = pg_catalog
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off as $$
begin
  if not exists (
    select from changed c
    where c.is_connected and webhooks.spendable(c.balance_micros, c.held_micros) < (
      select max(s.low_balance_threshold_micros) from webhooks.subscriptions s
      where s.status = 'active' and s.low_balance_threshold_micros is not null
    )
  ) then
    return null;
  end if;
  with fallen as materialized (
    select c.wallet_id, c.version, c.app_id, c.user_id, c.currency,
      webhooks.spendable(b.balance_micros, b.held_micros) as available_before,
      webhooks.spendable(c.balance_micros, c.held_micros) as available
    from changed c join before b on b.wallet_id = c.wallet_id
    where c.is_connected
      and webhooks.spendable(c.balance_micros, c.held_micros) < webhooks.spendable(b.balance_micros, b.held_micros)
  ), crossed as (
    select webhooks.event_id('balance.low', f.wallet_id || ':' || f.version) as event_id, f.app_id, s.subscription_id,
      s.listener_id, f.user_id, f.currency, f.available, s.low_balance_threshold_micros as threshold, clock_timestamp() as at
    from fallen f
    cross join lateral (
      select t.* from webhooks.subscriptions t
      where t.app_id = f.app_id and t.status = 'active' and (t.listening_until is null or t.listening_until > clock_timestamp())
        and f.available_before >= t.low_balance_threshold_micros and f.available < t.low_balance_threshold_micros
      for key share skip locked
    ) s
  ), told as (
    select l.*, webhooks.body(l.event_id, 'balance.low', l.at, l.app_id,
      webhooks.balance_low(l.user_id, l.available, l.threshold, l.currency)) as body
    from crossed l
  ), copied as (
    insert into webhooks.copies (subscription_id, event_id, type, body, created_at)
    select t.subscription_id, t.event_id, 'balance.low', t.body, t.at from told t where t.listener_id is not null
  )
  insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at)
  select t.event_id, t.app_id, t.subscription_id, 'balance.low', t.body, t.at from told t where t.listener_id is null
  on conflict do nothing;
  return null;
end $$;

revoke all on function webhooks.tell_low_balances from public;

create or replace trigger wallets_low after update on ledger.wallets
  referencing old table as before new table as changed
  for each statement execute function webhooks.tell_low_balances();
