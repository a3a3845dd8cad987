-- Locks db.identity, which has one row, for a moment.

-- By which a gateway knows that it has the same PURSER_SECRET as all others of this database. The first start writes it.
-- The secret cannot be derived from it.
alter table db.identity add column secret_fingerprint bytea check (length(secret_fingerprint) = 16);
