-- What each finished call used and cost.

create schema usage;
grant usage on schema usage to purser_live;

-- One row for each hold that ended, also where the call cost nothing. It is the receipt, the source of every summary, and the proof
-- that the call is over. The ledger writes it in the transaction of the charge. It is never changed.
--
-- The receipt of a charge is also its entry in the ledger, see ledger.entries, and receipts are kept by month (decision 91): a
-- call id begins with the time at which its call began, so a range of ids is a UTC month, and the primary key is of the call id alone.
-- The months and their parts are the ledger's, see ledger.months.
--
-- PostgreSQL reads the text of every check of a table anew in each statement that writes to it, so the rules stand in few checks.
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
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null,
  held_micros bigint not null,
  charged_micros bigint not null,
  correlation_id text collate "C",
  settled_at timestamptz not null default clock_timestamp(),
  cache_write_tokens bigint not null default 0, -- Apart from the tokens that were read from the cache.
  seq bigint, -- The number of its entry. Null if it is no entry: nothing was charged, or not all of it from the wallet.
  balance_after_micros bigint, -- Of the wallet.
  -- Counts that few calls have: writes to a long-lived cache, audio, images, searches. Null in nearly every row, so that ordinary
  -- calls pay for none of them.
  rare_counts jsonb,
  budget_key text collate "C", -- The line of keys whose budget it counted for, so that the check can add up what a budget has spent.
  constraint a_call_without_an_answer_is_free check (outcome in ('answered', 'abandoned') or charged_micros = 0), -- CC-08, CC-09
  constraint calls_are_whole_entries check (
    case when seq is null then balance_after_micros is null
      else seq > 0 and charged_micros > 0 and coalesce(balance_after_micros, -1) >= 0 end
  ),
  -- Cached tokens and those written to a cache are parts of the prompt, reasoning is a part of the completion, and a
  -- charge is never above its hold (WA-07), which is never nothing.
  constraint parts_are_within_their_wholes check (
    least(cached_tokens, cache_write_tokens, prompt_tokens - cached_tokens - cache_write_tokens,
      reasoning_tokens, completion_tokens - reasoning_tokens,
      charged_micros, held_micros - charged_micros, held_micros - 1) >= 0
  )
) partition by range (call_id);
-- For summaries. A call_id begins with the time, so the calls of one wallet lie together, in order.
create index calls_wallet on usage.calls (wallet_id, month);
-- For those who ask by correlation id, newest first. It is partial so that no plan of a hot statement uses it: planned on
-- an empty table, a look-up of many calls would go through all of it, and do so for as long as its connection lives.
create index calls_correlation on usage.calls (correlation_id, call_id) where correlation_id is not null;

-- For ids that no month has, which only a gateway with a wrong clock makes: no call fails for want of a month.
create table usage.calls_other partition of usage.calls default;
-- A unique index of the whole table would have to contain the call id, so each part has its own.
create unique index calls_other_entries on usage.calls_other (wallet_id, seq) where seq is not null;

-- Calls that were charged late, after their hold had been released (WA-10, decision 88). The receipt with which the hold was released
-- stays as it is. The late charge has a receipt of its own, with an id of the time at which it was booked.
create table usage.late_receipts (
  call_id uuid primary key, -- As its caller knows it. Once: a call is charged late at most once.
  receipt_id uuid not null unique -- In usage.calls.
);

grant select on usage.calls, usage.late_receipts to purser_live; -- A part of usage.calls is read through the whole.
