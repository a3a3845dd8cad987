-- Marks wallets that have spent a share of their monthly cap that their owner wants a mail about, and returns them with the
-- highest such share, at most `p_most`. The caller stores the mails in the same transaction, so that each share is mailed once
-- a month: of two processes, the second waits for the row and then finds that the share was told.
--
-- 100 percent means that less than one percent is left: a call that needs more than is left is refused before the last micro.
-- Owners who paused or disconnected the app have stopped the spending themselves, and get no mail.
create or replace function connections.alerts_due(p_most int)
returns table (identity_id text, connection_id text, app_id text, share smallint, spent bigint, cap bigint, currency text)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  this_month constant date := db.current_month();
begin
  return query
  with due as (
    select a.connection_id, c.identity_id, c.app_id, max(s.share) as share, w.cap_spent_micros as spent, w.cap_micros as cap, w.currency
    from connections.alerts a
    join connections.connections c on c.connection_id = a.connection_id
    join ledger.wallets w on w.app_id = c.app_id and w.user_id = c.user_id
    cross join lateral unnest(a.shares) as s (share)
    where w.is_connected and not c.is_paused and w.cap_month = this_month and w.cap_micros > 0
      and w.cap_spent_micros * 100 >= w.cap_micros * least(s.share, 99)
      and s.share > case when a.month = this_month then a.told else 0 end
    group by a.connection_id, c.identity_id, c.app_id, w.cap_spent_micros, w.cap_micros, w.currency
    order by a.connection_id limit p_most
  )
  update connections.alerts a set month = this_month, told = d.share
  from due d
  where a.connection_id = d.connection_id and (a.month <> this_month or a.told < d.share)
  returning d.identity_id, d.connection_id, d.app_id, d.share, d.spent, d.cap, d.currency::text;
end $$;

revoke all on function connections.alerts_due from public;
grant execute on function connections.alerts_due to purser_live;
