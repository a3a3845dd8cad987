-- When the last owner of a wallet was deleted: what they called before is not paid by who owns it afterwards (WA-10, decision 88). Without a default,
-- so no row is rewritten. Locks ledger.wallets for a moment.
alter table ledger.wallets add column owner_deleted_at timestamptz;
