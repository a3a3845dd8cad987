-- The role of an operator among operators (decision 0066). Null for owners. An operator without one, whom a process of the
-- version before made meanwhile, reads as a viewer.
alter table accounts.accounts
  add column operator_role text check (operator_role in ('viewer', 'support', 'finance', 'admin')),
  add constraint accounts_operator_role_of_operators check (operator_role is null or role = 'operator');
update accounts.accounts set operator_role = 'admin' where role = 'operator';

-- Operators' sessions last twelve hours.
update accounts.sessions s set expires_at = least(s.expires_at, clock_timestamp() + interval '12 hours')
  from accounts.accounts a where a.account_id = s.account_id and a.role = 'operator';
