-- The operator who did that. What the account moves within 24 hours also counts for their day (decision 0072).
alter table accounts.accounts add column appointed_by text collate "C";
