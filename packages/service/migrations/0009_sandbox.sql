-- Play money. Nothing here reaches real wallets, usage or events, and the role that calls the functions of src/sandbox has
-- no right on any of those (SB-03). It has none on these tables either.

create schema sandbox;
grant usage on schema sandbox to purser_sandbox;

-- As ledger.settlement, with what a test user's counters grow by. src/sandbox/settlement.ts writes it.
create type sandbox.settlement as (
  call_id uuid,
  charge_micros bigint,
  tokens bigint, -- 0: it was not answered.
  is_unkept boolean
);

-- As ledger.wallets, without what only real money needs. A user's first call makes one (SB-01); after 30 idle days it is
-- removed (SB-08).
create table sandbox.wallets (
  wallet_id bigint generated always as identity primary key,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  balance_micros bigint not null check (balance_micros between 0 and 9007199254740991),
  held_micros bigint not null default 0 check (held_micros between 0 and balance_micros),
  cap_micros bigint check (cap_micros between 0 and 9007199254740991),
  cap_month date not null default '1970-01-01',
  cap_spent_micros bigint not null default 0 check (cap_spent_micros >= 0),
  cap_held_micros bigint not null default 0 check (cap_held_micros >= 0),
  is_suspended boolean not null default false,
  open_streams int not null default 0 check (open_streams >= 0),
  requests bigint not null default 0, -- Calls that were answered, since it was made or reset.
  tokens bigint not null default 0, -- And what they used.
  last_used_at timestamptz not null default clock_timestamp(),
  reset_at timestamptz, -- When it was last reset: answers that were kept before are given to nobody (SB-05, CC-14).
  open_calls int not null default 0 check (open_calls >= 0),
  next_outcome text, -- What the owner of the app has chosen for the next call (decision 19). That call takes it with its hold.
  unique (app_id, user_id)
) with (fillfactor = 50);

-- As ledger.holds.
create table sandbox.holds (
  call_id uuid primary key,
  wallet_id bigint not null,
  amount_micros bigint not null check (amount_micros > 0),
  month date not null,
  is_stream boolean not null,
  instance_id bigint not null,
  placed_at timestamptz not null default clock_timestamp(),
  key_digest bytea,
  body_digest bytea,
  is_joined boolean not null default false,
  budget_key text collate "C",
  plays text -- The outcome that the call took.
);
create index holds_key on sandbox.holds (key_digest) where key_digest is not null;

-- As ledger.key_budgets.
create table sandbox.key_budgets (
  key_id text collate "C" not null,
  month date not null,
  spent_micros bigint not null default 0,
  held_micros bigint not null default 0,
  primary key (key_id, month),
  constraint figures_are_in_range check (least(spent_micros, held_micros) >= 0)
)
with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01);
