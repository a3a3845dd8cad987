-- Locks what a batch of calls is judged by, and refuses a process that is fenced: first the wallets, then the budgets. So a
-- statement that follows sees what the locks protect. Gives both, the month of the holds, and whether some call holds
-- already or has ended, which is nearly never: an ordinary call then looks for neither its hold nor its receipt.
create or replace function money.lock_asked(
  p_instance bigint,
  p_grant bigint, -- Play money.
  p_requests db.hold_request[],
  out wallets bigint[], out budgets money.key_budgets[], out this_month date, out is_repeat boolean
)
language plpgsql as $$
declare
  has_budget boolean;
  is_live boolean;
begin
  wallets := ledger.lock_wallets(p_requests); -- Real money.
  wallets := sandbox.lock_wallets(p_requests, p_grant); -- Play money.
  select exists (select from db.instances i where i.instance_id = p_instance and i.state = 'live'),
    exists (select from unnest(p_requests) q where q.budget_key is not null),
    exists (select from money.holds h where h.call_id = any (array(select q.call_id from unnest(p_requests) q)))
      or exists (select from ledger.ended_calls(p_requests)) -- Real money.
  into is_live, has_budget, is_repeat;
  if not is_live then
    raise exception 'instance % is fenced', p_instance using errcode = '55000';
  end if;
  this_month := db.current_month(); -- Once: what is judged by it is locked here.
  if has_budget then
    budgets := money.lock_key_budgets(p_requests, wallets, this_month);
  end if;
end $$;

revoke all on function money.lock_asked from public;
