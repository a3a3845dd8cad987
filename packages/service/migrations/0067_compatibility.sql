-- Which builds can run on this schema (decision 80). Locks nothing that is in use.
--
-- A build of an older schema may run on a newer one as long as its own number is at least `oldest_schema`: beside newer
-- gateways during a rolling upgrade, and after going back. A migration that takes something away from older builds, or refuses
-- what they write, sets it to its own number.
create table db.compatibility (
  is_only boolean primary key default true check (is_only), -- One row.
  oldest_schema int not null
);
insert into db.compatibility (oldest_schema) values (67);
grant select on db.compatibility to purser_live;
