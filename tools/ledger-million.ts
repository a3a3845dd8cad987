// Times the ledger check on a ledger of a million entries, in full and by what is new: `node tools/ledger-million.ts`.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../packages/service/src/db/pool/pool.ts';
import { startEmbeddedPostgres } from '../packages/service/src/embedded/embedded-postgres.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { checkChanges, checkLedger } from '../packages/service/src/ledger/check/check.ts';

const { values } = parseArgs({ options: { entries: { type: 'string', default: '1000000' } } });
const ENTRIES = Number(values.entries);
/** A fifth of all entries lies in one wallet, the others in wallets of forty. */
const BUSY_SHARE = 5;
const ENTRIES_A_WALLET = 40;

/** Rows that obey every rule, through every trigger and constraint: a credit, then charges over two months, some holds. */
const FILL = [
  `create temp table sizes as
   select n as wallet_id, case when n = 1 then $1 / ${BUSY_SHARE} else ${ENTRIES_A_WALLET} end as entries
   from generate_series(1, 1 + ($1 - $1 / ${BUSY_SHARE}) / ${ENTRIES_A_WALLET}) n`,
  `create temp table charges as
   select s.wallet_id, g.seq, 1 + (g.seq * 7 + s.wallet_id) % 100 as amount,
     (db.current_month() - case when g.seq <= s.entries / 2 then interval '1 month' else interval '0' end)::date as month,
     (lpad(to_hex(s.wallet_id::bigint * 1000000 + g.seq), 12, '0') || substr(md5(s.wallet_id || ':' || g.seq), 1, 20))::uuid as call_id
   from sizes s, generate_series(2, s.entries) g (seq)`,
  `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
   select wallet_id, 1, 'top_up', 'top_up:' || wallet_id || ':first', 'processor', 'wallet', 1000000000, 1000000000 from sizes`,
  `insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, prompt_tokens, cached_tokens,
     completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
   select call_id, wallet_id, month, 'acme.large-1', 1, 'answered', false, 10, 0, 10, 0, 200, amount, seq,
     1000000000 - sum(amount) over (partition by wallet_id order by seq)
   from charges order by seq, wallet_id`,
  `with instance as (
     insert into db.instances (lease_until) values (clock_timestamp() + interval '1 day') returning instance_id
   )
   insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
   select gen_random_uuid(), s.wallet_id, 500, db.current_month(), s.wallet_id % 2 = 0, i.instance_id
   from sizes s, instance i where s.wallet_id % 10 = 0`,
  `insert into ledger.wallets (app_id, user_id, currency, balance_micros, entry_seq, version, cap_month, cap_spent_micros,
     held_micros, open_streams, open_calls, cap_held_micros)
   select 'app_many', 'user-' || s.wallet_id, 'EUR', 1000000000 - c.charged, s.entries, s.entries, db.current_month(), c.spent,
     coalesce(h.held, 0), coalesce(h.streams, 0), coalesce(h.plain, 0), coalesce(h.held, 0)
   from sizes s
   join (
     select wallet_id, sum(amount) as charged, sum(amount) filter (where month = db.current_month()) as spent
     from charges group by wallet_id
   ) c on c.wallet_id = s.wallet_id
   left join (
     select wallet_id, sum(amount_micros) as held, count(*) filter (where is_stream) as streams,
       count(*) filter (where not is_stream) as plain
     from ledger.holds group by wallet_id
   ) h on h.wallet_id = s.wallet_id
   order by s.wallet_id`,
];

const started = performance.now();
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

async function fill(owner: Pool): Promise<void> {
  const client = await owner.connect();
  try {
    for (const text of FILL) await client.query(text.replaceAll('$1', String(ENTRIES)));
  } finally {
    client.release(true);
  }
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const since = performance.now();
  const result = await work();
  console.log(`${what}: ${seconds(since)} s`);
  return result;
}

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-million-'));
const log = createLog('warn');
const server = await startEmbeddedPostgres({ directory: path.join(directory, 'postgres'), log, say: () => {} });
const owner = createPool({ url: server.url, role: 'owner', connectionsMax: 1, log });
try {
  await migrate(owner);
  await timed('filled', () => fill(owner));
  for (const state of ['as it was written', 'after analyze']) {
    const full = await timed(`full check, ${state}`, () => checkLedger(owner));
    console.log(`  ${full.wallets} wallets, ${full.entries} entries, ${full.found} differences`);
    process.exitCode ||= Number(full.found > 0n);
    await owner.query('analyze');
  }
  for (const state of ['of everything', 'of nothing']) {
    const pass = await timed(`incremental check ${state}`, () => checkChanges(owner));
    console.log(`  ${pass.wallets} wallets, ${pass.entries} entries, ${pass.found} differences`);
    process.exitCode ||= Number(pass.found > 0n);
  }
  console.log(`all: ${seconds(started)} s`);
} finally {
  await owner.end();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
