-- An event keeps its body as long as its row, so that owners can see what was sent, and what they missed (WH-14). Rows that
-- ended before this have none.
alter table webhooks.events
  drop constraint events_check2,
  add constraint events_body check (body is not null or state in ('delivered', 'dropped'));
-- Finds the few dropped events of an app among the many that were delivered.
create index events_dropped on webhooks.events (app_id, created_at desc, event_id desc) where state = 'dropped';

-- The latest attempt that failed, for the app's home page: attempts have no index by time.
alter table webhooks.subscriptions
  add column last_failed_at timestamptz,
  add column last_failed_status int,
  add column last_failed_error text;
