-- A price belongs to a model as one provider serves it. It may have more kinds of token than four, and it may come into force
-- at a time of its own.

alter table catalogue.prices
  -- Null in the rows from before this migration. A model had one provider then, and could change it.
  add column provider text collate "C",
  add column provider_model text,
  add column effective_from timestamptz, -- Null: at once, when the row was added.
  add column margin_micros_per_call bigint not null default 0 check (margin_micros_per_call >= 0),
  -- What few prices have, spelled as in the catalogue: other kinds of token, fees, tiers. Null: none of it.
  add column details jsonb check (jsonb_typeof(details) = 'object');

-- When the catalogue stopped naming a price. A price that is not here is named by it: in force, or about to be.
create table catalogue.price_ends (
  price_id bigint primary key references catalogue.prices,
  ended_at timestamptz not null default clock_timestamp()
);
grant select, insert on catalogue.price_ends to purser_live;
create index prices_of_model on catalogue.prices (model_id, price_id);

-- So far, a price was in force until the next one of its model.
insert into catalogue.price_ends (price_id, ended_at)
select p.price_id, coalesce(lead(p.since) over (partition by p.model_id order by p.price_id), clock_timestamp())
from catalogue.prices p;

-- The prices in force, again, now with who serves the model.
with added as (
  insert into catalogue.prices (model_id, provider, provider_model, input_micros_per_million, cached_input_micros_per_million,
    cache_write_micros_per_million, output_micros_per_million, margin_basis_points)
  select m.model_id, m.provider, m.settings->>'providerModel', p.input_micros_per_million, p.cached_input_micros_per_million,
    p.cache_write_micros_per_million, p.output_micros_per_million, p.margin_basis_points
  from catalogue.models m join catalogue.prices p on p.price_id = m.price_id
  returning *
)
-- The settings of a model are its whole entry from now on, the price included.
update catalogue.models m set price_id = a.price_id, settings = m.settings || jsonb_build_object(
  'provider', m.provider,
  'price', jsonb_build_object('inputMicrosPerMillion', a.input_micros_per_million,
    'cachedInputMicrosPerMillion', a.cached_input_micros_per_million,
    'cacheWriteMicrosPerMillion', a.cache_write_micros_per_million,
    'outputMicrosPerMillion', a.output_micros_per_million),
  'marginBasisPoints', a.margin_basis_points)
from added a where a.model_id = m.model_id;
