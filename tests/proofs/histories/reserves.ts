// Holds placed at once by several processes on a few shared wallets (WA-07, WA-03): `node tests/proofs/histories/reserves.ts`.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../../../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { startEmbeddedPostgres } from '../../../packages/service/src/embedded/embedded-postgres.ts';
import type { AppId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { checkLedger } from '../../../packages/service/src/ledger/check/check.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import { sql } from '../../support/sql.ts';

export const APP = 'app_reserves' as AppId;
/** The streams that a user may have open. Few, so that this limit is reached too. */
export const STREAMS_MAX = 3;
const WALLETS = 8;
const LOOK_EVERY_MS = 100;
/**
 * The amount is somewhat below the average hold. Wallets without a cap get less than half of it and run dry in the end.
 */
const MEAN_HOLD = 300;

/** The sums of what the database told one of our processes. */
export interface Tally {
  readonly asked: number;
  readonly granted: number;
  readonly refused: Record<string, number>;
  /** What was charged, by wallet, in order. */
  readonly charged: readonly number[];
}

export interface Share {
  readonly url: string;
  readonly users: readonly string[];
  readonly reserves: number;
}

/**
 * Sends `reserves` requests for holds from `processes` processes at once and settles what is granted. Meanwhile it keeps
 * checking for a wallet that is overspent, over its cap or over its stream limit. Half of the wallets have a cap.
 */
export async function reserveAtOnce(
  owner: Pool,
  { url, reserves, processes }: { readonly url: string; readonly reserves: number; readonly processes: number },
) {
  const users = Array.from({ length: WALLETS }, (_, index) => `user-${index}`);
  const credited = Math.ceil((reserves * MEAN_HOLD) / WALLETS / 2);
  for (const [index, user] of users.entries()) await openWallet(owner, { user, credited, isCapped: index % 2 === 1 });
  const watch = watchWallets(owner);
  const share = { url, users, reserves: Math.ceil(reserves / processes) };
  const ended = await Promise.all(Array.from({ length: processes }, () => runWorker(share)));
  const tallies = ended.filter((tally) => tally !== undefined);
  const { looks, seen } = await watch.stop();
  const { differences } = await checkLedger(owner);
  const violations = [
    ...(tallies.length < processes ? ['a process was answered with an error, see above'] : []),
    ...seen,
    ...differences.map(({ rule, walletId }) => `wallet ${walletId}: ${rule}`),
    ...(await missingMicros(owner, { users, credited, tallies })),
  ];
  const refused: Record<string, number> = {};
  for (const tally of tallies) {
    for (const [reason, times] of Object.entries(tally.refused)) refused[reason] = (refused[reason] ?? 0) + times;
  }
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  return {
    asked: sum(({ asked }) => asked),
    granted: sum(({ granted }) => granted),
    refused,
    looks,
    /** The list is empty if no wallet was overspent and no micro is missing. */
    violations,
  };
}

async function openWallet(
  owner: Pool,
  wallet: { readonly user: string; readonly credited: number; readonly isCapped: boolean },
): Promise<void> {
  const userId = wallet.user as EndUserId;
  const amount = micros(BigInt(wallet.credited));
  const cap = wallet.isCapped ? micros(BigInt(Math.ceil(wallet.credited / 2))) : undefined;
  await createWallets(owner).open({ appId: APP, userId, currency: 'EUR', cap });
  await createFunding(owner).credit({ appId: APP, userId, kind: 'top_up', amount, key: 'only' });
}

/** Returns undefined for a process that ended with an error, which it has printed. */
function runWorker(share: Share): Promise<Tally | undefined> {
  return new Promise((resolve, reject) => {
    const worker = fork(new URL('reserves-worker.ts', import.meta.url), [JSON.stringify(share)]);
    let tally: Tally | undefined;
    worker.once('message', (message) => {
      tally = message as Tally;
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve(tally));
  });
}

/** Checks the wallets from outside, over and over. */
function watchWallets(owner: Pool) {
  const seen = new Set<string>();
  let looks = 0;
  const end = new AbortController();
  const watching = (async () => {
    while (!end.signal.aborted) {
      const rows = await sql<{ user_id: string }>(owner)`select user_id from ledger.wallets
        where balance_micros < 0 or held_micros > balance_micros or open_streams > ${STREAMS_MAX}
          or cap_spent_micros + cap_held_micros > cap_micros`;
      looks += 1;
      for (const { user_id: user } of rows) seen.add(`${user} was overspent, or over its cap or streams`);
      await new Promise((resolve) => {
        setTimeout(resolve, LOOK_EVERY_MS);
      });
    }
  })();
  return {
    stop: async () => {
      end.abort();
      await watching;
      return { looks, seen };
    },
  };
}

/** Compares the charges that the processes saw plus what is left in each wallet with what was put in. */
async function missingMicros(
  owner: Pool,
  books: { readonly users: readonly string[]; readonly credited: number; readonly tallies: readonly Tally[] },
): Promise<readonly string[]> {
  const rows = await sql<{ user_id: string; balance: bigint; held: bigint }>(owner)`
    select user_id, balance_micros as balance, held_micros as held from ledger.wallets`;
  return books.users.flatMap((user, index) => {
    const wallet = rows.find((row) => row.user_id === user);
    const charged = books.tallies.reduce((total, tally) => total + (tally.charged[index] ?? 0), 0);
    const isRight = wallet?.held === 0n && wallet.balance === BigInt(books.credited - charged);
    return isRight
      ? []
      : [`${user}: ${books.credited} in, ${charged} charged, ${wallet?.balance} left, ${wallet?.held} held`];
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { reserves: { type: 'string', default: '1000000' }, processes: { type: 'string', default: '4' } },
  });
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-reserves-'));
  const log = createLog('warn');
  const server = await startEmbeddedPostgres({ directory, log, say: () => {} });
  try {
    const owner = createPool({ url: server.url, role: 'owner', connectionsMax: 4, log });
    await migrate(owner);
    const scale = { reserves: Number(values.reserves), processes: Number(values.processes) };
    const { violations, ...figures } = await reserveAtOnce(owner, { url: server.url, ...scale });
    console.log(JSON.stringify({ ...scale, ...figures, violations: violations.length }, undefined, 2));
    for (const violation of violations.slice(0, 20)) console.log(violation);
    process.exitCode = violations.length === 0 ? 0 : 1;
    await owner.end();
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
