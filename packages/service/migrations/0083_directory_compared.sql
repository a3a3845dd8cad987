-- What tells that a copy of the directory is wrong, and what makes it right (decision 101). Two small tables: locks them for a moment.

-- How often this database has copied the whole directory again: a copy that was wrong may have had the right counters in db.generations.
alter table db.identity add column copies integer not null default 0;

-- When the copy in this database was compared with the directory, and the tables that differed. In a cell that has a copy only.
alter table cells.own add column comparing_at timestamptz; -- The last comparison began.
alter table cells.own add column compared_at timestamptz; -- The last one ended that has an outcome: `differing`.
alter table cells.own add column differing text[] not null default '{}';
grant update (comparing_at, compared_at, differing) on cells.own to purser_live;
