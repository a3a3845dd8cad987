-- Models, their prices, and the aliases that point at them.

create schema catalogue;
grant usage on schema catalogue to purser_live;

-- The catalogue files that were applied. A start with an unchanged file changes nothing, so what an operator has changed
-- since stays.
create table catalogue.applied_files (
  applied_id bigint generated always as identity primary key,
  digest bytea not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- Who runs models, and how they are reached.
create table catalogue.providers (
  name text collate "C" primary key,
  definition jsonb not null
);

-- Prices in micros per million tokens. They are only ever added, because the receipt of a call names its price.
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
  resale text not null check (resale in ('open', 'reserved')), -- Reserved: for first-party apps alone (MO-04).
  is_enabled boolean not null,
  price_id bigint not null references catalogue.prices,
  settings jsonb not null
);

-- Stable public names of models.
create table catalogue.aliases (
  alias text collate "C" primary key,
  target text collate "C" not null references catalogue.models deferrable initially deferred
);

grant select, insert, update, delete on catalogue.providers, catalogue.models, catalogue.aliases to purser_live;
grant select, insert on catalogue.prices, catalogue.applied_files to purser_live;
