import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { endInstance, insertInstance, renewLease } from '../../../packages/service/src/db/processes/queries.ts';
import { createSharedChannel, type TakeTurn } from '../../../packages/service/src/ledger/turn/channel.ts';
import type { Turn } from '../../../packages/service/src/ledger/turn/queries.ts';
import { createTurns } from '../../../packages/service/src/ledger/turn/turns.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { lockWallet } from '../../support/lock-wait.ts';
import { sql } from '../../support/sql.ts';

// Channels that several gateway processes share.
let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

/** A channel that notes the names of its statements. */
function noting(statements: string[]): TakeTurn {
  const query = (config: { readonly name: string; readonly text: string }) => {
    statements.push(config.name);
    return ledger.live.query(config);
  };
  return createSharedChannel({ query } as unknown as Pool);
}

const placing = (...users: readonly string[]): Turn => ({
  settlements: [],
  requests: users.map((user) => holdOf(user, 10)),
});

/** Answers and turns are messages, which arrive in a later round of the event loop. */
const messageTime = (): Promise<unknown> => new Promise(setImmediate);

async function ownerOf({ requests }: Turn): Promise<readonly bigint[]> {
  const { rows } = await ledger.database.owner.query<{ instance_id: bigint }>(
    'select instance_id from ledger.holds where call_id = any ($1) order by array_position($1, call_id)',
    [requests.map(({ callId }) => callId)],
  );
  return rows.map(({ instance_id: id }) => id);
}

test('WA-07 turns that wait for the same channel are one statement', async () => {
  for (const user of ['first', 'anna', 'ben', 'cleo']) await ledger.open(user, 100);
  const processes = [await ledger.addInstance(), await ledger.addInstance(), await ledger.addInstance()] as const;
  const statements: string[] = [];
  const channel = noting(statements);
  const turns = [placing('first'), placing('anna', 'nobody'), placing('ben', 'cleo')] as const;
  const rows = await Promise.all(turns.map((turn, place) => channel(processes[place] ?? 0n, turn)));
  assert.deepEqual(
    rows.map(({ placed }) => placed.map(({ outcome }) => outcome)),
    [['granted'], ['granted', 'payment_required'], ['granted', 'granted']],
  );
  // One for all three, and one that refuses the stranger.
  assert.deepEqual(statements, ['ledger_turn', 'ledger_reserve']);
  assert.deepEqual(await Promise.all(turns.map(ownerOf)), [
    [processes[0]],
    [processes[1]],
    [processes[2], processes[2]],
  ]);
  const ends = turns.map(({ requests }) => ({
    settlements: requests.slice(0, 1).map((hold) => endOf(hold, 4)),
    requests: [],
  }));
  const settled = await Promise.all(ends.map((turn, place) => channel(processes[place] ?? 0n, turn)));
  assert.deepEqual(
    settled.map((each) => each.settled.map(({ charged }) => charged)),
    [[4n], [4n], [4n]],
  );
});

test('WA-07 busy processes of a channel keep in step', async () => {
  const users = Array.from({ length: 10 }, (_, number) => `busy-${number}`);
  for (const user of users) await ledger.open(user, 1_000);
  const statements: string[] = [];
  const channel = noting(statements);
  const rounds = 5;
  const work = async (instanceId: bigint): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const { requests } = placing(...users);
      const ends = requests.map((hold) => endOf(hold, 1));
      await channel(instanceId, { settlements: [], requests });
      await messageTime();
      await channel(instanceId, { settlements: ends, requests: [] });
      await messageTime();
    }
  };
  const [one, other] = [await ledger.addInstance(), await ledger.addInstance()];
  const first = work(one);
  await messageTime(); // Its first turn runs. Out of step, each turn would be a statement of its own.
  await Promise.all([first, work(other)]);
  assert.equal(statements.length, 2 * rounds + 1);
});

test('WA-10 only the process that lost its lease is told so', async () => {
  for (const user of ['dora', 'emil']) await ledger.open(user, 100);
  const [live, fenced] = [await ledger.addInstance(), await ledger.addInstance()];
  await endInstance(ledger.live, fenced);
  const channel = noting([]);
  const [good, bad] = [placing('dora'), placing('emil')];
  const [rows, fault] = await Promise.all([
    channel(live, good),
    assert.rejects(channel(fenced, bad), { code: '55000' }),
  ]);
  assert.deepEqual([rows.placed[0]?.outcome, fault], ['granted', undefined]);
  assert.deepEqual([await ownerOf(good), await ownerOf(bad)], [[live], []]);
});

test('WA-07 a locked wallet fails only its own turn', async () => {
  for (const user of ['fritz', 'gisa']) await ledger.open(user, 100);
  const [one, other] = [await ledger.addInstance(), await ledger.addInstance()];
  const channel = noting([]);
  const lock = await lockWallet(ledger.database, 'fritz');
  const held = placing('gisa');
  const [, rows] = await Promise.all([
    assert.rejects(channel(one, placing('fritz')), { code: '55P03' }),
    channel(other, held),
  ]);
  await lock.release();
  assert.equal(rows.placed[0]?.outcome, 'granted');
});

test('WA-07 a wallet’s calls all take one channel', async () => {
  const seen = Array.from({ length: 4 }, () => new Set<string>());
  const users = new Map<string, string>();
  const channels = seen.map((wallets): TakeTurn => {
    return async (_, { settlements, requests }) => {
      for (const { callId } of [...settlements, ...requests]) wallets.add(users.get(callId) ?? '');
      return {
        settled: settlements.map(({ callId }) => ({
          call_id: callId,
          is_settled: true,
          charged: 1n,
          is_joined: false,
        })),
        placed: requests.map(({ callId, most }) => ({
          call_id: callId,
          outcome: 'granted',
          granted: most,
          earlier: null,
        })),
      };
    };
  });
  const [first, ...others] = channels;
  assert(first !== undefined);
  const turns = createTurns({
    channels: [first, ...others],
    instance: {
      run: (statement) => statement(1n),
      id: () => 1n,
      stop: async () => {},
      leave: async () => {},
      failedRenewals: () => 0,
      isKeeper: () => true,
    },
    run: (statement) => statement(),
    walletOf: (callId) => users.get(callId),
  });
  for (let call = 0; call < 400; call += 1) {
    const user = `user-${call % 80}`;
    const hold = holdOf(user, 10);
    users.set(hold.callId, user);
    await new Promise((resolve, reject) => turns.place(hold, { resolve, reject }));
    await new Promise((resolve, reject) => turns.settle(endOf(hold, 1), { resolve, reject }));
  }
  assert.equal(
    seen.reduce((sum, { size }) => sum + size, 0),
    80,
  );
  for (const { size } of seen) assert(size >= 8, `a channel has ${size} of 80 wallets`);
});

test('WA-10 the oldest live process is the keeper', async () => {
  await sql(ledger)`update db.instances set state = 'dead'`;
  const [first, second, third] = [
    await insertInstance(ledger.live, 60_000),
    await insertInstance(ledger.live, 60_000),
    await insertInstance(ledger.live, 60_000),
  ];
  const isOldest = async (instance: bigint) => (await renewLease(ledger.live, instance, 60_000))?.is_oldest;
  assert.deepEqual([await isOldest(first), await isOldest(second), await isOldest(third)], [true, false, false]);
  await sql(ledger)`update db.instances set lease_until = clock_timestamp() - interval '1 second'
    where instance_id = ${first}`;
  assert.deepEqual([await isOldest(second), await isOldest(third)], [true, false]);
  await endInstance(ledger.live, second);
  assert.deepEqual([await isOldest(second), await isOldest(third)], [undefined, true]);
});
