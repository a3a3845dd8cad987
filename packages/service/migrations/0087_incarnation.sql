-- Tells a start whether this may be another life of the database (decision 102). Locks db.identity, which has one row, for a moment.
alter table db.identity add column incarnation text; -- As a gateway with a cell found it last. Null: none has looked.
