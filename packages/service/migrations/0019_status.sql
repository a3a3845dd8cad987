-- What the status page tells everybody: when the service was last there, and what went wrong.

create schema status;
grant usage on schema status to purser_live;

create table status.service (
  is_only boolean primary key default true check (is_only), -- One row.
  seen_at timestamptz -- When a gateway last reached the database. Null: none has.
);
insert into status.service default values;

-- How soon a model's streams usually begin: an average in which a day of calls counts as much as all before.
create table status.usual (
  model text collate "C" primary key, -- The resolved identifier.
  first_byte_ms float8 not null check (first_byte_ms >= 0),
  seen_at timestamptz not null
);

create table status.incidents (
  incident_id bigint generated always as identity primary key,
  model text collate "C" not null, -- The resolved identifier. '': the whole service.
  state text not null check (state in ('out', 'slow')),
  began_at timestamptz not null,
  seen_at timestamptz not null, -- When a gateway last saw it.
  ended_at timestamptz -- Null while it goes on.
);
create index incidents_of on status.incidents (model, state, incident_id);

grant select on status.service, status.usual, status.incidents to purser_live;
