-- Whether an attempt is under way that was given an older generation of the subscription than this one; any attempt, where
-- `p_generation` is null.
create or replace function webhooks.is_sending(p_app text, p_generation bigint) returns boolean
language sql volatile security definer set search_path = pg_catalog as $$
  select exists (
    select from webhooks.events e
    where e.app_id = p_app and e.state = 'sending' and e.lease_until > clock_timestamp()
      and (p_generation is null or e.claimed_generation < p_generation)
  );
$$;

revoke all on function webhooks.is_sending from public;
grant execute on function webhooks.is_sending to purser_live;
