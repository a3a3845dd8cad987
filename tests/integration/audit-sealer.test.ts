import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkChain } from '../../packages/service/src/audit/check-chain.ts';
import { sealEntries } from '../../packages/service/src/audit/sealer.ts';
import { inTransaction } from '../../packages/service/src/db/pool/pool.ts';
import { addAct, HEAD_KEY, newTrail, sealAll } from '../support/audit-trail.ts';
import { sql, sqlValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The sealers of two gateways on one audit trail. */

test('CP-09 simultaneous acts of two gateways are each chained once', async () => {
  const { owner: db, pools } = await newTrail();
  const [first, second] = pools;
  // The lowest number commits last: what comes after it must not leave it out.
  const late = await first.connect();
  await sql(late)`begin`;
  await addAct(late, 'late');
  const over = new AbortController();
  const sealing = pools.map(async (pool) => {
    while (!over.signal.aborted) await sealEntries(pool, HEAD_KEY, 0, 7);
  });
  const acts = Array.from({ length: 120 }, (_, at) =>
    inTransaction(at % 2 === 0 ? first : second, async (tx) => {
      await addAct(tx, `act ${at}`);
      if (at % 5 === 0) throw new Error('undone');
    }).catch((fault: unknown) => assert.match(String(fault), /undone/)),
  );
  await Promise.all(acts);
  await sql(late)`commit`;
  late.release();
  over.abort();
  await Promise.all(sealing);
  await sealEntries(second, HEAD_KEY, 0);
  await sealAll(first);
  const { links, found, waiting, faults } = await checkChain(db, HEAD_KEY);
  assert.deepEqual([links, found, waiting], [97n, 0n, 0n], faults.join('\n'));
  const rows = await sql<{ settled: boolean }>(db)`select settled_entry = (select max(entry_id)
    from audit.entries) as settled from audit.head`;
  assert.deepEqual(rows, [{ settled: true }]);
});

test('CP-09 another sealer goes on after one is killed', async () => {
  const { owner: db, pools } = await newTrail();
  for (const subject of ['one', 'two', 'three']) await addAct(pools[0], subject);
  const lock = await db.connect();
  await sql(lock)`begin`;
  await sql(lock)`lock table audit.links in exclusive mode`;
  const killed = assert.rejects(sealEntries(db, HEAD_KEY, 0)); // As the owner, who waits for locks.
  const pid = await waitUntil('the sealer has the head and waits for the links', async () => {
    return sqlValue<number>(lock)`select pid from pg_locks where not granted and relation = 'audit.links'::regclass`;
  });
  const locked = await sealEntries(pools[1], HEAD_KEY, 0);
  assert.deepEqual([locked.links, locked.head], [0, undefined]); // Another one works, and nobody waits.
  await sql(lock)`select pg_terminate_backend(${pid})`;
  await killed;
  await sql(lock)`rollback`;
  lock.release();
  await sealAll(pools[1]);
  const { links, found } = await checkChain(db, HEAD_KEY);
  assert.deepEqual([links, found], [3n, 0n]);
});
