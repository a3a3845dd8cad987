-- Who owns which wallet, and what they have set for the app.

create schema connections;
grant usage on schema connections to purser_live;

-- The first identity that consents owns the wallet of an (app, user), for good (BI-04). Whether the app may spend now is
-- another fact: ledger.wallets.is_connected.
create table connections.connections (
  connection_id text collate "C" primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  identity_id text collate "C" not null,
  user_label text check (length(user_label) between 1 and 80), -- What the app calls the user, for people with several.
  consented_at timestamptz not null default clock_timestamp(),
  is_paused boolean not null default false, -- The wallet's cap is 0 while this is true.
  cap_before_pause_micros bigint check (cap_before_pause_micros >= 0), -- What the cap goes back to; null: to none.
  check (is_paused or cap_before_pause_micros is null),
  unique (app_id, user_id)
);
create index connections_of on connections.connections (identity_id, consented_at);

grant select, insert, update on connections.connections to purser_live;
