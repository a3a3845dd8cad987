-- What a call gets on hold while other cells may have a part of its key's budget (decision 102): what it would get if this
-- cell had all of it, for a share of a part is no share. Where that would lower its hold it gets 0, so that its gateway asks
-- for more. Once it is known that there is no more, it gets what there is: `granted`, of the room here.
create or replace function ledger.granted_of_part(
  b ledger.key_budgets, granted bigint, largest bigint, room bigint, least_amount bigint, most_amount bigint, budget bigint
) returns bigint
language plpgsql as $$
declare
  whole constant bigint := db.granted_hold(
    least(largest, budget - b.spent_micros - b.lent_spent_micros - b.held_micros), least_amount, most_amount);
begin
  return case when whole <= room then whole when b.no_more_until > clock_timestamp() then granted else 0 end;
end $$;

revoke all on function ledger.granted_of_part from public;
