-- Where the pages lead users back to an app, other than at the end of connecting. Null: the first of redirect_uris.

alter table accounts.apps add column return_uri text;
alter table accounts.apps add constraint apps_return_uri_is_allowed check (return_uri is null or return_uri = any (redirect_uris));
