-- Counts that few calls have: writes to a long-lived cache, audio, images, searches. Null in nearly every row, so that ordinary
-- calls pay for none of them.
alter table usage.calls add column rare_counts jsonb;
alter type ledger.settlement add attribute rare_counts jsonb;
