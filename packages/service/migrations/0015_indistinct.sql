-- A wallet that is not connected is not in the index by which calls look for wallets. So a call for a user who has
-- disconnected reads, locks and writes exactly what a call for a stranger does: nothing (WA-02). It is on an expression, so
-- that the planner has no choice: by the index on the two columns it would read the row first. No id contains a space.
create unique index wallets_connected on ledger.wallets ((app_id || ' ' || user_id)) where is_connected;

-- When a test user's wallet was last reset: answers that were kept before are given to nobody (SB-05, CC-14).
alter table sandbox.wallets add column reset_at timestamptz;
