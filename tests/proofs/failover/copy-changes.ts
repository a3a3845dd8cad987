// Changes the directory while a fault is played, and looks at what arrives in the copy.
import { setTimeout as pause } from 'node:timers/promises';
import { addApp, type BenchApp } from '../../../benchmarks/support/database.ts';
import { revokeKey } from '../../../packages/service/src/developers/keys/queries.ts';
import { inTransaction, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { bumpGeneration } from '../../../packages/service/src/db/processes/queries.ts';
import type { KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Each has an app of its own to rename, so none waits for the commit of another. */
const WRITERS = 20;
const APART_MS = 400;
/** Each so many of them add apps and keys as well. */
const ADDS_EVERY = 4;
const LOOK_MS = 50;
const AFTER_FAULT_MS = 250;

/** Adds the apps whose names are changed. */
export async function addNamed(directory: Pool): Promise<readonly BenchApp[]> {
  const apps: BenchApp[] = [];
  for (let n = 0; n < WRITERS; n += 1) apps.push(await addApp(directory));
  await directory.query(`update accounts.apps set name = 'copy 0' where app_id = any ($1)`, [
    apps.map(({ appId }) => appId),
  ]);
  return apps;
}

export function startChanges(directory: Pool, copy: Pool, apps: readonly BenchApp[]) {
  const over = new AbortController();
  const written: number[] = [];
  const arrived: number[] = [];
  const work = apps.map(({ appId }, place) =>
    keep(over.signal, async () => {
      await sql(directory)`update accounts.apps set name = 'copy ' || (split_part(name, ' ', 2)::int + 1)
        where app_id = ${appId}`;
      written.push(Date.now());
      // A row that came too much stays. A name that came too much is soon written over.
      if (place % ADDS_EVERY === 0) await addApp(directory);
      await pause(APART_MS + place * 10);
    }),
  );
  let last = '';
  const looks = keep(over.signal, async () => {
    const { rows } = await copy.query<{ sum: string }>(
      `select sum(split_part(name, ' ', 2)::int)::text as sum from accounts.apps where name like 'copy %'`,
    );
    const sum = rows[0]?.sum ?? '';
    if (sum !== last) arrived.push(Date.now());
    last = sum;
    await pause(LOOK_MS);
  });
  return {
    /** Ends them, and gives the longest time since `beganAt` between two changes in the directory, and between two that arrived in the copy. */
    stop: async (beganAt: number) => {
      const endedAt = Date.now();
      over.abort();
      await Promise.all([...work, looks]);
      return { directory: longestGap(written, beganAt, endedAt), copy: longestGap(arrived, beganAt, endedAt) };
    },
  };
}

async function keep(over: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!over.aborted) await work().catch(() => pause(AFTER_FAULT_MS));
}

/** Returns the longest gap, in seconds. */
function longestGap(times: readonly number[], from: number, to: number): number {
  const inside = [from, ...times.filter((at) => at > from && at < to).toSorted((a, b) => a - b), to];
  return Math.max(...inside.slice(1).map((at, index) => at - (inside[index] ?? at))) / 1_000;
}

/** Makes an app and revokes a key. Gives how long it took until the copy had both, in seconds, or undefined if it has not within `waitMsMax`. */
export async function changeOnce(
  directory: Pool,
  copy: Pool,
  old: BenchApp,
  waitMsMax: number,
): Promise<{ readonly added: BenchApp; readonly seconds: number | undefined }> {
  const added = await addApp(directory);
  const rows = await sql<{ key_id: KeyId }>(directory)`select key_id from accounts.api_keys
    where app_id = ${old.appId}`;
  await inTransaction(directory, async (tx) => {
    const generation = await bumpGeneration(tx, 'accounts');
    for (const { key_id: keyId } of rows) await revokeKey(tx, { appId: old.appId, keyId }, generation);
  });
  const from = performance.now();
  const hasBoth = async (): Promise<boolean> => {
    const found = await copy.query(
      `select from accounts.api_keys where (app_id = $1 and revoked_at is null) or (app_id = $2 and revoked_at is not null)`,
      [added.appId, old.appId],
    );
    return found.rowCount === 2 + rows.length;
  };
  const seconds = await waitUntil('the copy has both changes', hasBoth, waitMsMax).then(
    () => (performance.now() - from) / 1_000,
    () => undefined,
  );
  return { added, seconds };
}
