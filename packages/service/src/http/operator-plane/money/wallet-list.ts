import { operatorWalletParamsSchema } from '@purser/contract/operator.ts';
import {
  walletEffectsSchema,
  walletListQuerySchema,
  walletListSchema,
  walletPreviewSchema,
} from '@purser/contract/operator-wallets.ts';
import type { z } from 'zod';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { operatorWalletToWire } from '#http/operator-plane/money/wallets.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { type Micros, micros, microsFromRow, microsSumFromRow, microsToWire } from '#kernel/values/micros.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import type { WalletAct, WalletEffects } from '#operator/money/wallet-preview.ts';

type Query = z.output<typeof walletListQuerySchema>;
type Preview = z.output<typeof walletPreviewSchema>;

/** Routes that list wallets of all apps, and show what an act on one would do (CP-05). */
export function addWalletListRoutes(plane: Plane, operator: OperatorPlane): void {
  const { walletList, previews } = operator;
  plane.get(
    '/operator/wallets',
    { schema: { querystring: walletListQuerySchema, response: { 200: walletListSchema } } },
    async ({ query }) => {
      const page = { isOldestFirst: query.sort === 'oldest', after: query.after, most: query.limit };
      const { wallets, next } = granted(await walletList.page(walletFilterOf(query), page));
      return {
        wallets: wallets.map((wallet) => ({
          ...operatorWalletToWire(wallet),
          appId: wallet.appId,
          openedAt: isoOf(wallet.openedAtMs),
          cell: wallet.cell,
        })),
        next: next ?? null,
      };
    },
  );

  plane.post(
    '/operator/apps/:appId/wallets/:userId/preview',
    {
      schema: {
        params: operatorWalletParamsSchema,
        body: walletPreviewSchema,
        response: { 200: walletEffectsSchema },
      },
    },
    async (request) => {
      // Callers' keys cannot contain a space, so this one was never used.
      const key = request.body.idempotencyKey ?? `preview ${randomBase62(KEY_LENGTH)}`;
      const wanted = { ...walletActOf(request.body), key };
      return effectsToWire(
        granted(await previews.walletAct(actOf(operator, request, undefined), request.params, wanted)),
      );
    },
  );
}

const KEY_LENGTH = 22;

/** The filter that a query asks for. The page of wallets asks in the same way. */
export function walletFilterOf(query: Omit<Query, 'sort' | 'after' | 'limit'>) {
  const { appId, userId, status, openedFrom, openedBefore, minHeldMicros, minBalanceMicros, maxBalanceMicros } = query;
  return {
    appId,
    userId: userId === '' ? undefined : userId,
    status,
    openedFromMs: openedFrom === undefined ? undefined : epochMsOf(openedFrom),
    openedBeforeMs: openedBefore === undefined ? undefined : epochMsOf(openedBefore),
    // Every wallet holds at least nothing.
    minHeld: minHeldMicros === 0 ? undefined : amountOf(minHeldMicros),
    minBalance: amountOf(minBalanceMicros),
    maxBalance: amountOf(maxBalanceMicros),
  };
}

function amountOf(value: number | undefined): Micros | undefined {
  return value === undefined ? undefined : micros(BigInt(value));
}

/** The act that a preview is asked for. Pages ask in the same way. */
export function walletActOf({ act, amountMicros, spendCapMicros, paymentId, writeOff }: Preview): WalletAct {
  if (act === 'open') return { act, cap: amountOf(spendCapMicros), amount: amountOf(amountMicros) };
  const amount = micros(BigInt(amountMicros ?? 0)); // The schema asks for it where it is needed.
  switch (act) {
    case 'refund':
      return { act, amount, paymentId };
    case 'reinstate':
      return { act, writesOff: writeOff };
    case 'release':
      return { act };
    case 'credit':
    case 'clawback':
      return { act, amount };
    default:
      return unreachable(act);
  }
}

function effectsToWire({ isChange, isForTwo, before, after, entries }: WalletEffects) {
  return {
    changes: isChange,
    needsSecondPerson: isForTwo,
    before: before === undefined ? null : operatorWalletToWire(before),
    after: operatorWalletToWire(after),
    entries: entries.map((entry) => ({
      seq: Number(entry.seq),
      kind: entry.kind,
      debit: entry.debit,
      credit: entry.credit,
      amountMicros: microsToWire(microsSumFromRow(entry.amount_micros)), // A write-off may exceed the largest balance.
      balanceAfterMicros: microsToWire(microsFromRow(entry.balance_after_micros)),
    })),
  };
}
