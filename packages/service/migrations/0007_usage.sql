-- What each finished call used and cost.

create schema usage;
grant usage on schema usage to purser_live;

-- One row for each hold that ended, also where the call cost nothing. It is the receipt, the source of every summary, and the proof
-- that the call is over. The ledger writes it in the transaction of the charge. It is never changed.
create table usage.calls (
  call_id uuid primary key,
  wallet_id bigint not null,
  month date not null, -- Of the hold, as the cap counts it (WA-08).
  model text collate "C", -- The resolved identifier, never an alias (MO-07). Null where the process died.
  price_id bigint,
  -- answered: in full; abandoned: the caller left; failed: the provider did, or we; expired: our process died.
  outcome text not null check (outcome in ('answered', 'abandoned', 'failed', 'expired')),
  is_estimated boolean not null, -- Charged by our own count, because the provider reported none (CC-11).
  is_usage_clamped boolean not null default false, -- The provider's counts contradicted each other.
  prompt_tokens bigint not null check (prompt_tokens >= 0),
  cached_tokens bigint not null check (cached_tokens between 0 and prompt_tokens),
  completion_tokens bigint not null check (completion_tokens >= 0),
  reasoning_tokens bigint not null check (reasoning_tokens between 0 and completion_tokens),
  held_micros bigint not null check (held_micros > 0),
  charged_micros bigint not null check (charged_micros between 0 and held_micros), -- Never above the hold (WA-07).
  correlation_id text collate "C",
  settled_at timestamptz not null default clock_timestamp(),
  check (outcome in ('answered', 'abandoned') or charged_micros = 0) -- A failed call costs nothing (CC-08, CC-09).
);
-- For summaries. A call_id begins with the time, so the calls of one wallet lie together, in order.
create index calls_wallet on usage.calls (wallet_id, month);
-- For those who ask by correlation id, newest first. It is partial so that no plan of a hot statement uses it: planned on
-- an empty table, a look-up of many calls would go through all of it, and do so for as long as its connection lives.
create index calls_correlation on usage.calls (correlation_id, call_id) where correlation_id is not null;

grant select on usage.calls to purser_live;
