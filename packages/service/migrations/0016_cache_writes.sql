-- Prompt tokens that a provider wrote to its cache. They have a price of their own (MO-08).
alter type ledger.settlement add attribute cache_write_tokens bigint;

-- A part of the prompt, apart from the tokens that were read from the cache.
alter table usage.calls add column cache_write_tokens bigint not null default 0 check (cache_write_tokens >= 0);
alter table usage.calls add check (cached_tokens + cache_write_tokens <= prompt_tokens);
