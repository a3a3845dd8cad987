-- Keys that must stay the same when PURSER_SECRET changes (decision 0074): pseudonyms, sealed secrets, keyed digests. Each is sealed
-- under every secret that may open this database: one, and two during a change. Only the owner of the schema reads them, at a start.
create table db.kept_keys (
  purpose text collate "C" not null check (length(purpose) between 1 and 100),
  fingerprint bytea not null check (length(fingerprint) = 16), -- Of the secret, as db.identity has it.
  sealed bytea not null,
  primary key (purpose, fingerprint)
);
