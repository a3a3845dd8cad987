// The ledger without a gateway around it: a process that places and settles holds as `app/compose.ts` lets a gateway do,
// and that commits single rows for comparison. Told what to do by `benchmarks/measures/ledger.ts`.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Holds } from '../../packages/service/src/ledger/holds.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { obey, startArgument } from '../support/worker.ts';
import type * as codeModule from './code.ts';
import { PAIR_PRICE_MICROS } from './price.ts';

/** Where it works, and as whom. */
export interface LedgerGround {
  /** The checkout whose code is measured. */
  readonly root: string;
  readonly databaseUrl: string;
  /** The directory holds what the ledger must keep while the database is away. */
  readonly directory: string;
  /** The apps take the users in turn: `user-n` belongs to the app at the index n modulo the number of apps. */
  readonly appIds: readonly string[];
}

/**
 * `pairs` places and settles holds, in turn over the first `wallets` users. `commits` commits one row at a time, by one
 * caller.
 */
export interface LedgerOrder {
  readonly act: 'pairs' | 'commits';
  readonly wallets: number;
  /** Each begins its next pair when its last is settled, and makes at least one, however late it is. */
  readonly callers: number;
  readonly seconds: number;
  /** How the work is divided among channels. If it is absent, there is one channel for all. */
  readonly channels?: Channels;
}

/**
 * With `caller`, callers work as separate gateway processes would: each has a channel of its own, and any caller may call
 * for any wallet. With `wallet`, they work as processes that share their channels, and a wallet always takes the same
 * channel.
 */
interface Channels {
  readonly count: number;
  readonly by: 'caller' | 'wallet';
}

export interface LedgerReport {
  /** Pairs or commits. */
  readonly done: number;
  readonly seconds: number;
  /** The processor microseconds that this process used for all of them. */
  readonly cpuMicros: number;
}

const LEAST = micros(100n);
const MOST = micros(1_000n);
const CHARGE = micros(BigInt(PAIR_PRICE_MICROS));
/**
 * This step is coprime to every number of wallets in use, so that wallets used one after the other are never neighbours
 * in the table.
 */
const STRIDE = 7_919;
const USAGE = { promptTokens: 8, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 47, reasoningTokens: 0 };

const ground = startArgument() as LedgerGround;
const { appIds, root } = ground;
// Each checkout knows its own files: an older one has other names.
const { openCode } = (await import(
  pathToFileURL(path.join(root, 'benchmarks/ledger/code.ts')).href
)) as typeof codeModule;
const { holds, openHolds, owner, newCallId, newCorrelationId } = await openCode(ground);
await owner.query(
  'create table if not exists benchmark_commits (number bigint generated always as identity primary key)',
);
let calls = 0;
obey(async (told): Promise<LedgerReport> => {
  const order = told as LedgerOrder;
  const ledgers = await ledgersFor(order.channels);
  const { user: userBefore, system: systemBefore } = process.cpuUsage();
  const startedAt = performance.now();
  const done = order.act === 'pairs' ? await placeAndSettle(ledgers, order) : await commitRows(order.seconds);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage();
  const cpuMicros = user - userBefore + system - systemBefore;
  return { done, seconds, cpuMicros };
});

const opened = new Map<string, Promise<readonly Holds[]>>();

function ledgersFor(channels: Channels | undefined): readonly Holds[] | Promise<readonly Holds[]> {
  if (channels === undefined) return [holds];
  const { count, by } = channels;
  const name = `${count} by ${by}`;
  const open = by === 'wallet' ? [openHolds(count)] : Array.from({ length: count }, () => openHolds(1));
  const ledgers = opened.get(name) ?? Promise.all(open);
  opened.set(name, ledgers);
  return ledgers;
}

async function placeAndSettle(ledgers: readonly Holds[], order: LedgerOrder): Promise<number> {
  const { wallets, callers, seconds } = order;
  const endAt = performance.now() + seconds * 1_000;
  let pairs = 0;
  const call = async (on: Holds): Promise<void> => {
    do {
      calls += 1;
      await placeAndSettleOne(on, (calls * STRIDE) % wallets);
      pairs += 1;
    } while (performance.now() < endAt);
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => call(ledgers[number % ledgers.length] ?? holds)));
  return pairs;
}

async function placeAndSettleOne(on: Holds, number: number): Promise<void> {
  const callId = newCallId();
  const wallet = { appId: appIds[number % appIds.length] as AppId, userId: `user-${number}` as EndUserId };
  const answer = await on.place({ callId, ...wallet, least: LEAST, most: MOST, streamsMax: 0 });
  if (answer.kind !== 'granted') throw new Error('A hold was refused.');
  const { charged } = await on.settle(
    {
      callId,
      charge: CHARGE,
      outcome: 'answered',
      model: 'bench.model-1',
      priceId: 1n,
      isEstimated: false,
      isUsageClamped: false,
      usage: USAGE,
      correlationId: newCorrelationId(),
    },
    answer.granted,
  );
  if (charged !== CHARGE) throw new Error(`A call was charged ${charged} and not ${CHARGE}.`);
}

/** One row, one commit, one after the other: what the disk and one connection can do. */
async function commitRows(seconds: number): Promise<number> {
  const endAt = performance.now() + seconds * 1_000;
  let commits = 0;
  do {
    await owner.query({ name: 'commit', text: 'insert into benchmark_commits default values' });
    commits += 1;
  } while (performance.now() < endAt);
  return commits;
}
