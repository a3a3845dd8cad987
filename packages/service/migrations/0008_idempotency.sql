-- Answers that are kept for retries, so that a retry is not charged again (CC-14).

create schema idempotency;
grant usage on schema idempotency to purser_live;

-- The answer of a call, sealed: nobody can read it without the secret of the service. It is stored before the hold of its
-- call ends, so that a retry always finds one of the two. It counts only once the call is charged, so that an answer that
-- a crash left behind is given to nobody.
create table idempotency.kept_answers (
  call_id uuid primary key,
  key_digest bytea not null, -- A keyed digest of whose call it is and its idempotency key, or its body where it had none.
  body_digest bytea not null, -- A keyed digest of the request. The same key with another body is a conflict.
  sealed bytea not null,
  charged_micros bigint check (charged_micros >= 0), -- Of play money, set by its settlement. Real money has receipts.
  kept_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index kept_answers_key on idempotency.kept_answers (key_digest);
create index kept_answers_expiry on idempotency.kept_answers (expires_at);

grant select, insert, delete on idempotency.kept_answers to purser_live;
