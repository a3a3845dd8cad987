-- How much a call gets on hold, of the `largest` hold that its wallet may have now: no more than it asks for, and no more
-- than three quarters of what is left, so that another call of the same user finds something beside it. Only a call whose
-- smallest hold is more than that gets its smallest hold (WA-13). `largest` is at least `least_amount`.
--
-- Every place that grants a hold calls this function, for real and play money. Each parameter is used once, so that
-- PostgreSQL takes it into the statements that call it.
create or replace function db.granted_hold(largest bigint, least_amount bigint, most_amount bigint) returns bigint
language sql immutable parallel safe as $$
  select least(most_amount, greatest(least_amount, (3 * largest + 3) / 4))
$$;

revoke all on function db.granted_hold from public;
