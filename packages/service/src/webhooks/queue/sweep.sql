-- Removes at most `p_most` events that ended so many days ago. The default is for processes of before this setting.
create or replace function webhooks.sweep(p_most int, p_days int default 30) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
  ended constant timestamptz := clock_timestamp() - p_days * interval '1 day';
  removed int;
begin
  delete from webhooks.events e where e.event_id in (
    select o.event_id from webhooks.events o where o.ended_at < ended
    order by o.ended_at limit p_most for update skip locked
  );
  get diagnostics removed = row_count;
  return removed;
end $$;

revoke all on function webhooks.sweep from public;
grant execute on function webhooks.sweep to purser_live;
