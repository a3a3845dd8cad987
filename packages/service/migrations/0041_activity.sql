-- The acts of one kind on an app, newest first. `entries_of_app` has all of an app; a rare kind would be searched for in all of them.
create index entries_of_app_action on audit.entries (app_id, action, entry_id) where app_id is not null and account_id is not null;
