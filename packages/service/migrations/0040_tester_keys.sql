-- A key that reads and resets the test users of its app and makes no calls (SB-07, decision 0060). Never changes.
alter table accounts.api_keys add column may_reset boolean not null default false;
alter table accounts.api_keys add constraint resets_play_money_only check (mode = 'sandbox' or not may_reset);
