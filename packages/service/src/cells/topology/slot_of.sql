-- The slot of a user of an app, from 0 to 4095: the first twelve bits of a SHA-256. `kernel/values/slot.ts` computes the same.
create or replace function cells.slot_of(p_app text, p_user text) returns integer
language sql immutable strict parallel safe set search_path = pg_catalog as $$
  select (get_byte(d.digest, 0) << 4) | (get_byte(d.digest, 1) >> 4)
  from sha256(convert_to(p_app || ' ' || p_user, 'UTF8')) d (digest)
$$;

revoke all on function cells.slot_of from public;
