-- Sessions that coding agents name in a header of their calls (CP-19), and by which wire a call came (WI-01). Only ever counted and
-- shown: nothing is charged by them. Processes of the version before know nothing of them, and what they write has neither.

-- The session of a call that has ended. src/kernel/call-session.ts writes it.
create type db.named_session as (
  call_id uuid,
  name text, -- As its client sent it: 1 to 128 visible ASCII characters.
  client text, -- Which coding agent it is, by its user agent. Null: an unknown one.
  wire text -- By which the call came.
);

-- What the calls of a session have cost. A row lasts as long as a call can be looked up after the last of them, and goes with the owner
-- of the wallet: receipts stay, and know nothing of it. So names are here and not on receipts, which never change.
create table usage.sessions (
  session_id bigint generated always as identity primary key, -- In the order in which they began, nearly.
  wallet_id bigint not null,
  name text collate "C" not null,
  client text collate "C",
  begun_at timestamptz not null, -- When its first call ended, and its last one.
  last_at timestamptz not null,
  -- Of its receipts, in the transaction of each of them. Answered and abandoned calls count, as in reports.
  calls bigint not null check (calls > 0),
  charged_micros bigint not null check (charged_micros >= 0),
  unique (wallet_id, name)
) with (fillfactor = 50); -- Every call of a session changes its row, and none of the indexes.
create index sessions_of_wallet on usage.sessions (wallet_id, begun_at desc, session_id desc);

-- Which session the receipt of a call belongs to, and by which wire it came.
create table usage.session_calls (
  call_id uuid primary key, -- In usage.calls. Of a call that was charged late: its second receipt.
  session_id bigint not null,
  wire text
);
create index session_calls_session on usage.session_calls (session_id);

grant select on usage.sessions, usage.session_calls to purser_live;

-- As usage.sessions, of play money, which has no receipts. Gone with the wallet, with a reset, and after 30 idle days.
create table sandbox.sessions (
  session_id bigint generated always as identity primary key,
  wallet_id bigint not null references sandbox.wallets on delete cascade,
  name text collate "C" not null,
  client text collate "C",
  begun_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp(),
  calls bigint not null check (calls > 0),
  charged_micros bigint not null check (charged_micros >= 0),
  unique (wallet_id, name)
) with (fillfactor = 50);
create index sessions_of_wallet on sandbox.sessions (wallet_id, begun_at desc, session_id desc);

alter table traces.calls add column wire text;
alter table traces.calls add column session text collate "C";
-- For the deletion of a person. Calls without a session are not in it.
create index calls_with_session on traces.calls (app_id, user_id) where session is not null;
