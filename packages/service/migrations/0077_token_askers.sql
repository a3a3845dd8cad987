-- Gateways of other cells that take tokens of buckets here (decision 98). New table: locks nothing.

create table limits.askers (
  holder uuid primary key, -- The process, as in token_leases.
  request bigint not null, -- The number of its latest request. The same number again, or a lower one, is refused.
  asked_at timestamptz not null
);
