-- Whether the new calls of a wallet are ordinary: held at once, each whole, without judging one by one. They are if all of
-- them together fit into the share that one call may have of `largest` (WA-13): then each fits into its own share of what
-- those before it leave. And each kind of them finds slots: `open_streams` and `open_calls` count the new ones, and a limit
-- that is null is none (LI-02, CC-18).
--
-- What is not ordinary is for the statements that judge. PostgreSQL takes this function into those that ask it.
create or replace function db.are_ordinary_holds(
  largest bigint, amount bigint, open_streams bigint, streams_max int, open_calls bigint, calls_max int
) returns boolean
language sql immutable parallel safe as $$
  select amount <= db.granted_hold(largest, 0, amount)
    and coalesce(open_streams <= streams_max, true) and coalesce(open_calls <= calls_max, true)
$$;

revoke all on function db.are_ordinary_holds from public;
