import { appParamsSchema } from '@purser/contract/control.ts';
import { pendingActSchema } from '@purser/contract/operator-pending.ts';
import {
  operatorWalletParamsSchema,
  operatorWalletSchema,
  movementSchema,
  openWalletSchema,
  paymentListSchema,
  refundSchema,
  reinstateSchema,
  walletDetailsSchema,
  walletPageSchema,
} from '@purser/contract/operator.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { pendingToWire } from '#http/operator-plane/money/pending-to-wire.ts';
import { walletToWire } from '#http/serializers/wallet-to-wire.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { micros, microsToWire, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { OPENED_HERE, parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import type { WalletDetails } from '#operator/money/wallets.ts';
import type { Payment } from '#payments/refunds/refunds.ts';

/** An act above the amount for one person is kept for a second one (CP-07). */
const DONE_OR_PENDING = { 200: operatorWalletSchema, 202: pendingActSchema };

/** Routes that open and show real wallets (CP-05). */
export function addOperatorWalletRoutes(plane: Plane, operator: OperatorPlane): void {
  const { wallets } = operator;
  plane.post(
    '/operator/apps/:appId/wallets',
    {
      schema: {
        params: appParamsSchema,
        body: openWalletSchema,
        response: { 201: operatorWalletSchema, 202: pendingActSchema },
      },
    },
    async (request, reply) => {
      const { userId, creditMicros, spendCapMicros, idempotencyKey, reason } = request.body;
      const credit =
        creditMicros === undefined || idempotencyKey === undefined
          ? undefined
          : { amount: micros(BigInt(creditMicros)), key: idempotencyKey };
      const wallet = await wallets.open(actOf(operator, request, reason), {
        appId: request.params.appId,
        userId,
        cap: spendCapMicros === undefined ? undefined : micros(BigInt(spendCapMicros)),
        credit,
      });
      const done = granted(wallet);
      if (done instanceof PendingAct) return reply.code(202).send(pendingToWire(done));
      return reply.code(201).send(operatorWalletToWire(done));
    },
  );

  plane.get(
    '/operator/apps/:appId/wallets/:userId',
    {
      schema: {
        params: operatorWalletParamsSchema,
        querystring: walletPageSchema,
        response: { 200: walletDetailsSchema },
      },
    },
    async ({ params, query }) => {
      const before = query.before === undefined ? undefined : placeOf(query.before);
      const details = await wallets.find(params, { before, most: query.limit });
      const found = granted(details ?? refuse('NOT_FOUND', 'This user has no wallet for this app.'));
      return detailsToWire(found, await operator.walletOwners.ofWallet(params));
    },
  );
}

/** Routes that move money into and out of wallets, and lift suspensions (WA-05, WA-06). */
export function addMovementRoutes(plane: Plane, operator: OperatorPlane): void {
  const { wallets, payments } = operator;
  plane.get(
    '/operator/apps/:appId/wallets/:userId/payments',
    { schema: { params: operatorWalletParamsSchema, response: { 200: paymentListSchema } } },
    async ({ params }) => {
      return { payments: (await payments.list(params.appId, params.userId)).map(paymentToWire) };
    },
  );

  // Three acts with one shape. Only a refund may name a payment, so only its schema has the field.
  for (const [path, act, body] of [
    ['credit', 'credit', movementSchema],
    ['refund', 'refund', refundSchema],
    ['clawback', 'clawBack', movementSchema],
  ] as const) {
    plane.post(
      `/operator/apps/:appId/wallets/:userId/${path}`,
      {
        schema: { params: operatorWalletParamsSchema, body, response: DONE_OR_PENDING },
      },
      async (request, reply) => {
        const { amountMicros, reason, idempotencyKey } = request.body;
        const paymentId = 'paymentId' in request.body ? request.body.paymentId : undefined;
        const amount = micros(BigInt(amountMicros));
        const movement = { ...request.params, amount, key: idempotencyKey, paymentId };
        const done = granted(await wallets[act](actOf(operator, request, reason), movement));
        if (done instanceof PendingAct) return reply.code(202).send(pendingToWire(done));
        return reply.code(200).send(operatorWalletToWire(done));
      },
    );
  }

  plane.post(
    '/operator/apps/:appId/wallets/:userId/reinstate',
    {
      schema: { params: operatorWalletParamsSchema, body: reinstateSchema, response: DONE_OR_PENDING },
    },
    async (request, reply) => {
      const { writeOff, reason } = request.body;
      const wallet = { ...request.params, writesOff: writeOff };
      const done = granted(await wallets.reinstate(actOf(operator, request, reason), wallet));
      if (done instanceof PendingAct) return reply.code(202).send(pendingToWire(done));
      return reply.code(200).send(operatorWalletToWire(done));
    },
  );
}

/** A payment on the wire. The processor's own id is not among the fields: it stays inside. */
function paymentToWire({ amount, refunded, disputed, paidAtMs, anomaly, ...payment }: Payment) {
  return {
    ...payment,
    amountMicros: microsToWire(amount),
    anomaly: anomaly ?? null,
    refundedMicros: microsToWire(refunded),
    disputedMicros: microsToWire(disputed),
    paidAt: isoOf(paidAtMs),
  };
}

/** The schema lets more through than we write: zeros at the front. */
function placeOf(text: string): Place {
  return parsePlace(text) ?? { move: OPENED_HERE, seq: BigInt(text) };
}

type Owner = Awaited<ReturnType<OperatorPlane['walletOwners']['ofWallet']>>;

/** A wallet with its holds and entries. The books of an entry have the ledger's own names, for comparison with its check. */
function detailsToWire({ wallet, holds, entries, next }: WalletDetails, owner: Owner | undefined) {
  return {
    wallet: operatorWalletToWire(wallet),
    owner: owner ?? null,
    holds: holds.map((hold) => ({
      callId: hold.call_id,
      amountMicros: microsToWire(microsFromRow(hold.amount_micros)),
      stream: hold.is_stream,
      placedAt: isoOf(hold.placed_at.getTime()),
    })),
    entries: entries.map((entry) => ({
      seq: Number(entry.seq),
      kind: entry.kind,
      cause: entry.cause,
      debit: entry.debit,
      credit: entry.credit,
      amountMicros: microsToWire(microsSumFromRow(entry.amount_micros)), // A write-off may exceed the largest balance.
      balanceAfterMicros: microsToWire(microsFromRow(entry.balance_after_micros)),
      at: isoOf(entry.at.getTime()),
      cell: entry.cell,
    })),
    next: next === undefined ? null : placeText(next),
  };
}

/** A wallet as operators see it: a balance, plus connection and shortfall. */
export function operatorWalletToWire(wallet: Wallet) {
  return {
    ...walletToWire(wallet),
    connected: wallet.isConnected,
    shortfallMicros: microsToWire(wallet.shortfall),
  };
}
