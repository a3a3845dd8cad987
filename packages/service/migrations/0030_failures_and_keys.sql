-- Which upstream failed a call, and API keys for tools that can neither name a user nor mark their retries.

-- { provider, providerModel, kind, status }. Null if no provider failed the call. Nothing of it was said by the provider but its status.
alter table traces.calls add column failure jsonb;

alter table accounts.api_keys
  add column bound_user text collate "C" -- The only end user of calls with this key (CP-08). Null: any. Never changes.
    check (bound_user ~ '^[!-~]+$' and length(bound_user) <= 256),
  add column join_seconds smallint -- How long after its end a call answers others with the same body (CC-14). Null: it does not.
    check (join_seconds between 1 and 60);
