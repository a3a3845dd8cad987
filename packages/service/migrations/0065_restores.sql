-- Restores of this database from a backup. Locks nothing that is in use.
create table db.restores (
  restore_no bigint generated always as identity primary key,
  restored_at timestamptz not null default clock_timestamp(),
  until_at timestamptz, -- The last commit that came back. Null: the log did not say.
  backup text not null check (length(backup) <= 200),
  accepted_at timestamptz -- Null: nobody has said yet that the original is gone. No gateway starts before that.
);
grant select on db.restores to purser_live;
