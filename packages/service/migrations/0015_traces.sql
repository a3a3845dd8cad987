-- What became of each chat call, for a bounded time: so that an owner or an operator finds a call by the ids of its answer.

create schema traces;
grant usage on schema traces to purser_live;

-- One row for each call whose app is known, refusals and replays included (CC-19). Nothing that anybody said. Money is not
-- decided by it: a receipt in usage.calls is what counts.
create table traces.calls (
  trace_id bigint generated always as identity primary key, -- In the order of their ends, nearly. Old rows go from the front.
  ended_at timestamptz not null,
  app_id text collate "C" not null,
  mode text not null check (mode in ('live', 'sandbox')),
  user_id text collate "C", -- Null where the call was refused before it was known; so are the model and the call's id.
  correlation_id text collate "C" not null,
  call_id uuid, -- Of a replay: the call that was answered first.
  model text collate "C", -- The resolved identifier.
  is_stream boolean not null,
  outcome text not null check (outcome in ('answered', 'abandoned', 'failed', 'refused', 'replayed')),
  status smallint, -- Null where the caller left before there was one.
  code text, -- Of the error that the caller got, or of the last frame of a stream.
  charged_micros bigint not null check (charged_micros >= 0),
  prompt_tokens bigint not null check (prompt_tokens >= 0),
  completion_tokens bigint not null check (completion_tokens >= 0),
  duration_ms int not null check (duration_ms >= 0),
  -- { provider, providerModel, kind, status }. Null if no provider failed the call. Nothing of it was said by the provider but its status.
  failure jsonb
);
-- In the order in which they are read. The app comes second, so that an operator can search all apps by it as well.
create index calls_correlation on traces.calls (correlation_id, app_id, trace_id desc);
create index calls_call on traces.calls (call_id, trace_id desc) where call_id is not null;
-- An app's latest calls, newest first, for the pages of its owners.
create index calls_of_app on traces.calls (app_id, mode, ended_at desc, trace_id desc);

grant select, insert, delete on traces.calls to purser_live;
