-- A paid checkout whose payment must be looked up once more: its wallet has moved to this cell, and the processor may have told a cell that
-- knew nothing of it (decision 96). Locks payments.checkouts for a moment.
alter table payments.checkouts add column look_again boolean not null default false;
