-- When the owner was last told that events are dropped (WH-12).
alter table webhooks.subscriptions add column drop_told_at timestamptz;
