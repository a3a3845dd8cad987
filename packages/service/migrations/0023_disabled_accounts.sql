-- Operators disable accounts. Locks: a short one on accounts.accounts, which gets a column with a constant default.

-- A disabled account opens no session and has none. Its apps and keys go on: they are suspended by their own switch.
alter table accounts.accounts add column is_disabled boolean not null default false;
