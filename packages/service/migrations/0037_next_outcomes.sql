-- The outcome that the owner of an app has chosen for the next call of a test user (decision 0058). That call takes it with its hold.
alter table sandbox.wallets add column next_outcome text;
alter table sandbox.holds add column plays text; -- The outcome that the call took.
