-- Counts calls in the sessions that their clients name (CP-19), in the transaction that has just written their receipts. Its caller has the
-- locks of their wallets, so nobody else counts for the same sessions meanwhile. A call counts once, however often it is named, and one that
-- failed or has no receipt yet does not: no settlement must ever fail because of a session.
create or replace function usage.note_sessions(p_calls db.named_session[]) returns void
language sql volatile set search_path = pg_catalog set enable_seqscan = off as $$
  with ended as (
    select c.call_id, c.wallet_id, c.charged_micros, c.settled_at, q.name, q.client, q.wire
    from (select distinct on (n.call_id) n.* from unnest(p_calls) n) q
    cross join lateral (
      select k.call_id, k.wallet_id, k.charged_micros, k.settled_at from usage.calls k
      where k.call_id = q.call_id and k.outcome in ('answered', 'abandoned') offset 0
    ) c
    where not exists (select from usage.session_calls n where n.call_id = q.call_id)
  ), counted as (
    insert into usage.sessions as s (wallet_id, name, client, begun_at, last_at, calls, charged_micros)
    select e.wallet_id, e.name, max(e.client), min(e.settled_at), max(e.settled_at), count(*), sum(e.charged_micros)::bigint
    from ended e group by e.wallet_id, e.name order by e.wallet_id, e.name
    on conflict (wallet_id, name) do update set
      client = coalesce(s.client, excluded.client),
      last_at = greatest(s.last_at, excluded.last_at),
      calls = s.calls + excluded.calls,
      charged_micros = s.charged_micros + excluded.charged_micros
    returning s.session_id, s.wallet_id, s.name
  )
  insert into usage.session_calls (call_id, session_id, wire)
  select e.call_id, c.session_id, e.wire from ended e join counted c on c.wallet_id = e.wallet_id and c.name = e.name;
$$;

revoke all on function usage.note_sessions from public;
