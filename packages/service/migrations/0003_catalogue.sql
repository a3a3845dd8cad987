-- Models, their prices, and the aliases that point at them. Locks: none that matter, everything is new.

create schema catalogue;
grant usage on schema catalogue to purser_live;

-- Which file was applied last, so that an unchanged one leaves an operator's later changes standing.
create table catalogue.applied_files (
  applied_id bigint generated always as identity primary key,
  digest bytea not null,
  applied_at timestamptz not null default clock_timestamp()
);

create table catalogue.providers (
  name text collate "C" primary key,
  definition jsonb not null
);

-- Prices are only ever added: a call's receipt names the row that it was charged by. Micros per million tokens.
create table catalogue.prices (
  price_id bigint generated always as identity primary key,
  model_id text collate "C" not null,
  input_micros_per_million bigint not null check (input_micros_per_million >= 0),
  cached_input_micros_per_million bigint not null check (cached_input_micros_per_million >= 0),
  cache_write_micros_per_million bigint not null check (cache_write_micros_per_million >= 0),
  output_micros_per_million bigint not null check (output_micros_per_million >= 0),
  margin_basis_points int not null check (margin_basis_points between 0 and 1000000),
  since timestamptz not null default clock_timestamp()
);

-- A model without a price cannot be stored, so it cannot be served (MO-06).
create table catalogue.models (
  model_id text collate "C" primary key check (model_id ~ '^[a-z0-9-]+\.[A-Za-z0-9._:-]+$'),
  provider text collate "C" not null references catalogue.providers deferrable initially deferred,
  resale text not null check (resale in ('open', 'reserved')),
  is_enabled boolean not null,
  price_id bigint not null references catalogue.prices,
  settings jsonb not null
);

create table catalogue.aliases (
  alias text collate "C" primary key,
  target text collate "C" not null references catalogue.models deferrable initially deferred
);

grant select, insert, update, delete on all tables in schema catalogue to purser_live;
revoke update, delete on catalogue.prices, catalogue.applied_files from purser_live;
