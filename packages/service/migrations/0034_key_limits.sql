-- What an owner may set on a key and change later (CP-08). A key that has none of it costs a call nothing.
alter table accounts.api_keys
  add column name text check (length(name) between 1 and 80),
  add column expires_at timestamptz, -- From then on it is refused like a revoked key. Null: never.
  add column models text[] check (cardinality(models) between 1 and 100), -- Ids and aliases that it may call. Null: all.
  add column addresses text[] check (cardinality(addresses) between 1 and 100), -- Addresses and networks it may come from. Null: all.
  add column rate_per_minute int check (rate_per_minute between 1 and 1000000), -- Beside the app's limit (LI-01).
  add column budget_micros bigint check (budget_micros between 1 and 9007199254740991), -- Per calendar month, UTC.
  add column rolled_from text collate "C" references accounts.api_keys, -- The key that it succeeds. Never changes.
  add column counts_as text collate "C" references accounts.api_keys; -- The first key of its line: both count what they call under it. Never changes.
-- A key has one successor.
create unique index api_keys_rolled_from on accounts.api_keys (rolled_from) where rolled_from is not null;
