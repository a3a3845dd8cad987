-- Keeps what a check has found: each full one in a row of its own, those of changes summed by the hour. Forgets those that
-- ended 90 days ago.
create or replace function ledger.note_check(
  p_kind text, p_process text, p_wallets bigint, p_ms bigint, p_differences bigint
) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if p_kind = 'full' then
    insert into ledger.checks (kind, begun_at, ended_at, process, wallets, longest_ms, differences)
    values (p_kind, v_now - p_ms * interval '1 millisecond', v_now, p_process, p_wallets, p_ms, p_differences);
  else
    insert into ledger.checks as c (kind, begun_at, ended_at, process, wallets, longest_ms, differences)
    values (p_kind, date_trunc('hour', v_now, 'UTC'), v_now, p_process, p_wallets, p_ms, p_differences)
    on conflict (begun_at) where kind = 'changes' do update set
      ended_at = excluded.ended_at, process = excluded.process, passes = c.passes + 1,
      wallets = c.wallets + excluded.wallets, longest_ms = greatest(c.longest_ms, excluded.longest_ms),
      differences = greatest(c.differences, excluded.differences);
  end if;
  delete from ledger.checks where ended_at < v_now - interval '90 days';
end $$;

revoke all on function ledger.note_check from public;
grant execute on function ledger.note_check to purser_live;
