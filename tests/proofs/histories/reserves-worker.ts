import { insertInstance } from '../../../packages/service/src/db/processes/queries.ts';
import { createPool, isItemFault, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import { type EndUserId, newCallId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import type { ReservedRow } from '../../../packages/service/src/ledger/hold/queries.ts';
import type { Settlement } from '../../../packages/service/src/ledger/settlement/settlement.ts';
import { takeTurn } from '../../../packages/service/src/ledger/turn/queries.ts';
import { APP, type Share, STREAMS_MAX, type Tally } from './reserves.ts';
import { endHolds } from '../../support/turns.ts';

// One of the processes of reserves.ts. It places holds in turns from several channels, settles them, and keeps the sums.

const CHANNELS = 4;
const BATCH_MAX = 48;
const LEASE_MS = 3_600_000;
const SPREAD = 400;

const share = JSON.parse(process.argv[2] ?? '') as Share;
const pool = createPool({ url: share.url, role: 'live', connectionsMax: CHANNELS, log: createLog('warn') });
const instance = await insertInstance(pool, LEASE_MS);
const charged = share.users.map(() => 0);
const refused: Record<string, number> = {};
let asked = 0;
let granted = 0;

function randomBelow(most: number): number {
  return Math.floor(Math.random() * most);
}

function randomRequest(): HoldRequest {
  const least = 1 + randomBelow(SPREAD);
  const userId = share.users[randomBelow(share.users.length)] as EndUserId;
  return {
    callId: newCallId(),
    appId: APP,
    userId,
    least: micros(BigInt(least)),
    most: micros(BigInt(least + randomBelow(SPREAD))),
    streamsMax: randomBelow(8) === 0 ? STREAMS_MAX : 0,
  };
}

function endOf({ callId }: HoldRequest, amount: bigint): Settlement {
  return {
    callId,
    charge: micros(amount),
    outcome: amount === 0n ? 'failed' : 'answered',
    model: 'acme.large-1',
    priceId: 1n,
    isEstimated: true, // So that usage above a hold does not count as a provider's bill.
    isUsageClamped: false,
    usage: { promptTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 1, reasoningTokens: 0 },
    correlationId: undefined,
  };
}

/** Turns are safe to repeat, which is what a gateway does after a lock timeout. */
async function repeated<Result>(statement: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await statement();
    } catch (fault) {
      if (isItemFault(fault)) throw fault;
    }
  }
}

/** As a gateway does it, a turn ends the calls that hold since the turn before, and places new holds. */
async function runChannel(channel: Pool): Promise<void> {
  let running: readonly HoldRequest[] = [];
  let ends: readonly Settlement[] = [];
  while (asked < share.reserves || ends.length > 0) {
    const requests = asked < share.reserves ? someRequests() : [];
    asked += requests.length;
    const isMixed = randomBelow(4) > 0;
    const settlements = ends;
    const settled = isMixed ? [] : await repeated(() => endHolds(channel, settlements));
    const turn = { settlements: isMixed ? settlements : [], requests };
    const answers = await repeated(() => takeTurn(channel, instance, turn));
    for (const { call_id: id, charged: amount } of [...settled, ...answers.settled]) {
      const user = running.find(({ callId }) => callId === id)?.userId ?? '';
      const index = share.users.indexOf(user);
      charged[index] = (charged[index] ?? 0) + Number(amount);
    }
    if (randomBelow(10) === 0) await repeated(() => endHolds(channel, settlements)); // Sent again, which must change nothing.
    running = requests;
    ends = answers.placed.flatMap((answer) => endsOf(answer, requests));
  }
}

/** Draws some requests. Often it is one alone, which has statements of its own. */
function someRequests(): readonly HoldRequest[] {
  const length = randomBelow(4) === 0 ? 1 : 1 + randomBelow(BATCH_MAX);
  return Array.from({ length }, randomRequest);
}

/** How the call will end, if it was granted. */
function endsOf(answer: ReservedRow, requests: readonly HoldRequest[]): readonly Settlement[] {
  const request = requests.find(({ callId }) => callId === answer.call_id);
  if (request === undefined) throw new Error('An answer belongs to no request.');
  if (answer.outcome !== 'granted') {
    refused[answer.outcome] = (refused[answer.outcome] ?? 0) + 1;
    return [];
  }
  if (answer.granted < request.least || answer.granted > request.most) throw new Error('A grant is out of range.');
  granted += 1;
  return [endOf(request, BigInt(randomBelow(Number(answer.granted) + SPREAD / 4)))];
}

await Promise.all(Array.from({ length: CHANNELS }, () => runChannel(pool)));
await pool.end();
process.send?.({ asked, granted, refused, charged } satisfies Tally);
process.disconnect?.();
