-- The newest change of keys and apps that a process has in memory, so that an act that revokes a key can wait for all of them (AU-09). Null: a
-- process of an earlier version, or one that has just started.

alter table db.instances add column accounts_seen bigint;
