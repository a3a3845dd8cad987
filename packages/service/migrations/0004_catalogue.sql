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

-- What a model costs as one provider serves it, in micros per million tokens. Prices are only ever added, because the receipt of a call
-- names its price.
create table catalogue.prices (
  price_id bigint generated always as identity primary key,
  model_id text collate "C" not null,
  input_micros_per_million bigint not null check (input_micros_per_million >= 0),
  cached_input_micros_per_million bigint not null check (cached_input_micros_per_million >= 0),
  cache_write_micros_per_million bigint not null check (cache_write_micros_per_million >= 0),
  output_micros_per_million bigint not null check (output_micros_per_million >= 0),
  margin_basis_points int not null check (margin_basis_points between 0 and 1000000),
  since timestamptz not null default clock_timestamp(),
  provider text collate "C",
  provider_model text,
  effective_from timestamptz, -- Null: at once, when the row was added.
  margin_micros_per_call bigint not null default 0 check (margin_micros_per_call >= 0),
  -- What few prices have, spelled as in the catalogue: other kinds of token, fees, tiers. Null: none of it.
  details jsonb check (jsonb_typeof(details) = 'object')
);
create index prices_of_model on catalogue.prices (model_id, price_id);

-- When the catalogue stopped naming a price. A price that is not here is named by it: in force, or about to be.
create table catalogue.price_ends (
  price_id bigint primary key references catalogue.prices,
  ended_at timestamptz not null default clock_timestamp()
);

-- A model without a price cannot be stored, so it cannot be served (MO-06).
create table catalogue.models (
  model_id text collate "C" primary key check (model_id ~ '^[a-z0-9-]+\.[A-Za-z0-9._:-]+$'),
  provider text collate "C" not null references catalogue.providers deferrable initially deferred,
  resale text not null check (resale in ('open', 'reserved')), -- Reserved: for first-party apps alone (MO-04).
  is_enabled boolean not null,
  price_id bigint not null references catalogue.prices,
  settings jsonb not null -- Its whole entry in the catalogue, the price included.
);

-- Stable public names of models.
create table catalogue.aliases (
  alias text collate "C" primary key,
  target text collate "C" not null references catalogue.models deferrable initially deferred
);

-- Catalogues that operators have sent and not applied yet. A draft is deleted when it is applied, or after a day.
create table catalogue.drafts (
  draft_id text collate "C" primary key,
  file jsonb not null,
  base_version bigint, -- Of the catalogue that a price list was compared with. Null for a whole file.
  report text not null,
  created_at timestamptz not null default clock_timestamp()
);

grant select, insert, update, delete on catalogue.providers, catalogue.models, catalogue.aliases to purser_live;
grant select, insert, delete on catalogue.drafts to purser_live;
grant select, insert on catalogue.prices, catalogue.price_ends, catalogue.applied_files to purser_live;
