import { randomBytes } from 'node:crypto';
import { applyCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { insertInstance } from '../../packages/service/src/db/processes/queries.ts';
import { insertAnswer } from '../../packages/service/src/idempotency/queries.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { type AppId, type CallId, type EndUserId, newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { insertCredit, insertSetAside, insertTakeBack } from '../../packages/service/src/ledger/funding/queries.ts';
import { beginDrains } from '../../packages/service/src/ledger/hold/drain-queries.ts';
import { takeTurn } from '../../packages/service/src/ledger/turn/queries.ts';
import { insertWallet } from '../../packages/service/src/ledger/wallet/queries.ts';
import { leaseTokens } from '../../packages/service/src/limits/queries.ts';
import { reserveSandboxHolds } from '../../packages/service/src/sandbox/holds/queries.ts';
import { upsertSubscription } from '../../packages/service/src/webhooks/subscriptions/queries.ts';

const APP = 'app_fixture' as AppId;
const LEASE_MS = 15_000;
const MINUTE_MS = 60_000;

/** A catalogue with one model. */
function catalogueAt(price: number): string {
  return JSON.stringify({
    providers: { one: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', onAbandon: 'cancel' } },
    models: [
      {
        id: 'acme.large-1',
        provider: 'one',
        providerModel: 'large',
        resale: 'open',
        marginBasisPoints: 6,
        contextTokens: 1_000,
        maxOutputTokens: 100,
        price: {
          inputMicrosPerMillion: price,
          cachedInputMicrosPerMillion: 3,
          cacheWriteMicrosPerMillion: 4,
          outputMicrosPerMillion: 5,
        },
      },
    ],
  });
}

/**
 * Fills in money as a service leaves it that is stopped in the middle of its work: wallets with calls behind them, open
 * holds, a debt, a refund on its way, events that wait, and play money. The price of the model has changed once.
 */
export async function fillDatabase({ live, sandbox }: { readonly live: Pool; readonly sandbox: Pool }): Promise<void> {
  for (const price of [1, 2]) await applyCatalogueFile(live, catalogueAt(price));
  await upsertSubscription(
    live,
    {
      appId: APP,
      endpointUrl: 'https://app.example/hook',
      events: ['topup.completed', 'balance.low'],
      threshold: 1_000n,
    },
    { sealed: Buffer.from('sealed'), fingerprint: 'fingerprint' },
  );
  const instance = await insertInstance(live, LEASE_MS);
  await leaseTokens(live, crypto.randomUUID(), [
    { bucket: APP, perMinute: 600, burst: 100, wanted: 1, kept: 0, returned: 0, target: 5 },
  ]);
  for (const user of ['calls', 'streams', 'owes', 'refunds']) await openWallet(live, user as EndUserId);

  const answered = callOf('calls');
  await place(live, instance, [answered, callOf('streams', 3), callOf('owes')]);
  await end(live, instance, answered.callId);
  const kept = callOf('calls');
  const drained = callOf('streams', 3);
  await place(live, instance, [kept, drained]);
  await beginDrains(live, [drained.callId]);
  const { digest, body } = kept.idempotencyKey;
  const sealed = Buffer.from('sealed');
  await insertAnswer(live, {
    callId: kept.callId,
    digest,
    body,
    sealed,
    charged: undefined,
    lifetimeMs: 5 * MINUTE_MS,
  });

  const taken = { appId: APP, userId: 'owes' as EndUserId, amount: micros(12_000n), key: 'dispute' };
  await insertTakeBack(live, { ...taken, kind: 'claw_back' });
  await insertSetAside(live, { appId: APP, userId: 'refunds' as EndUserId, amount: micros(4_000n), key: 'refund' });
  await reserveSandboxHolds(sandbox, instance, micros(10_000_000n), [callOf('plays'), callOf('plays', 3)]);
}

async function openWallet(live: Pool, userId: EndUserId): Promise<void> {
  await insertWallet(live, { appId: APP, userId, currency: 'EUR', cap: micros(1_000_000n) });
  await insertCredit(live, {
    appId: APP,
    userId,
    kind: 'top_up',
    amount: micros(10_000n),
    key: `payment of ${userId}`,
  });
}

/** A call that asks for up to 2,000 micros. */
function callOf(user: string, streamsMax = 0) {
  return {
    callId: newCallId(),
    appId: APP,
    userId: user as EndUserId,
    least: micros(100n),
    most: micros(2_000n),
    streamsMax,
    idempotencyKey: { digest: randomBytes(16), body: randomBytes(16), joins: false },
  };
}

async function place(live: Pool, instance: bigint, requests: readonly HoldRequest[]): Promise<void> {
  await takeTurn(live, instance, { settlements: [], requests });
}

async function end(live: Pool, instance: bigint, callId: CallId): Promise<void> {
  const usage = { promptTokens: 100, cachedTokens: 20, cacheWriteTokens: 0, completionTokens: 50, reasoningTokens: 10 };
  const settlement = {
    callId,
    charge: micros(1_500n),
    outcome: 'answered',
    model: 'acme.large-1',
    priceId: 1n,
    isEstimated: false,
    isUsageClamped: false,
    usage,
    correlationId: undefined,
  } as const;
  await takeTurn(live, instance, { settlements: [settlement], requests: [] });
}
