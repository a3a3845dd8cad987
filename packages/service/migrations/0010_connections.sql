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

-- When an operator last released a wallet from its owner (WA-15). A link from before that gives nobody the wallet.
create table connections.releases (
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  released_at timestamptz not null default clock_timestamp(),
  -- The owner was deleted, and not only released. Money that comes later is for a person to decide about (CP-12).
  is_deletion boolean not null default false,
  primary key (app_id, user_id)
);

-- Mail to the owner of a wallet when a share of its monthly cap is spent. Only for wallets whose owner asked for it: a sweep reads these
-- rows and no others.
create table connections.alerts (
  connection_id text collate "C" primary key references connections.connections on delete cascade,
  shares smallint[] not null check (shares <> '{}' and 1 <= all (shares) and 100 >= all (shares)), -- In percent of the cap.
  -- The highest share that was mailed in this month.
  month date not null default '1970-01-01',
  told smallint not null default 0
);

grant select, insert, update on connections.connections to purser_live;
grant select, update (is_deletion) on connections.releases to purser_live;
grant select, insert, update, delete on connections.alerts to purser_live;
