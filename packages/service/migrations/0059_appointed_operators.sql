-- When another operator last made this account an operator, gave it another role, enabled it or removed its second factor. For 24
-- hours it is no second person (decision 0072). Null: nobody did, or the person who owns the machine.
alter table accounts.accounts add column appointed_at timestamptz;
