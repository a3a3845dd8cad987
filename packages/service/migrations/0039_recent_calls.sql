-- An app's latest calls, newest first, for the pages of its owners.
create index calls_of_app on traces.calls (app_id, mode, ended_at desc, trace_id desc);
