-- Who owns which wallet, and what he set for the app. Locks: none that matter, everything is new.

create schema connections;
grant usage on schema connections to purser_live;

-- The first identity that consents owns the wallet of an (app, user), for good (BI-04). Whether the app may spend now is
-- `ledger.wallets.is_connected`.
create table connections.connections (
  connection_id text collate "C" primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  identity_id text collate "C" not null,
  -- As the app calls the account, for its owner to tell one from another.
  user_label text check (length(user_label) between 1 and 80),
  consented_at timestamptz not null default clock_timestamp(),
  -- Paused: the wallet's cap is 0, and goes back to this one, null for none.
  is_paused boolean not null default false,
  cap_before_pause_micros bigint check (cap_before_pause_micros >= 0),
  check (is_paused or cap_before_pause_micros is null),
  unique (app_id, user_id)
);
create index connections_of on connections.connections (identity_id, consented_at);

grant select, insert, update on connections.connections to purser_live;
