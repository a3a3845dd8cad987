-- When an operator last released a wallet from its owner (WA-15). A link from before that gives nobody the wallet.
create table connections.releases (
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  released_at timestamptz not null default clock_timestamp(),
  primary key (app_id, user_id)
);
grant select on connections.releases to purser_live;
