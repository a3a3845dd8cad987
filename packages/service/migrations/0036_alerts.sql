-- Mail to the owner of a wallet when a share of its monthly cap is spent.

-- Only for wallets whose owner asked for it: a sweep reads these rows and no others.
create table connections.alerts (
  connection_id text collate "C" primary key references connections.connections on delete cascade,
  shares smallint[] not null check (shares <> '{}' and 1 <= all (shares) and 100 >= all (shares)), -- In percent of the cap.
  -- The highest share that was mailed in this month.
  month date not null default '1970-01-01',
  told smallint not null default 0
);

grant select, insert, update, delete on connections.alerts to purser_live;
