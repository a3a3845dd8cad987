-- What the provider charged for a call, from what its user paid: the charge without its margin, within a micro. The charge was rounded
-- up, so this rounds down. Null if its price is not known.
create or replace function stats.cost_of(p_charged bigint, p_margin_basis_points int, p_margin_per_call bigint) returns bigint
language sql immutable strict parallel safe set search_path = pg_catalog as $$
  select greatest(0, floor((p_charged - p_margin_per_call)::numeric * 10000 / (10000 + p_margin_basis_points)))::bigint
$$;

revoke all on function stats.cost_of from public;
