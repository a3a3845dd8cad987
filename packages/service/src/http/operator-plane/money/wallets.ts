import { appParamsSchema } from '@purser/contract/control.ts';
import type { walletPreviewSchema } from '@purser/contract/operator-wallets.ts';
import {
  movementSchema,
  openWalletSchema,
  operatorWalletParamsSchema,
  operatorWalletSchema,
  paymentListSchema,
  refundSchema,
  reinstateSchema,
  walletDetailsSchema,
  walletPageSchema,
} from '@purser/contract/operator.ts';
import type { z } from 'zod';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { micros } from '#kernel/values/micros.ts';
import { OPENED_HERE, parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { doWalletAct, type WalletAct } from '#operator/money/wallet-preview.ts';

/** An act above the amount for one person is kept for a second one (CP-07). */
const MOVES = { answer: operatorWalletSchema, mayWait: true } as const;

/** Routes that open and show real wallets (CP-05). */
export function addOperatorWalletRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.act(
    'POST /operator/apps/:appId/wallets',
    { ...MOVES, params: appParamsSchema, body: openWalletSchema, status: 201 },
    async (act, { params: { appId }, body: { userId, creditMicros, spendCapMicros, idempotencyKey } }) => {
      const wanted = walletActOf({ act: 'open', amountMicros: creditMicros, spendCapMicros, writeOff: false });
      const key = idempotencyKey ?? ''; // The schema asks for it where there is a credit.
      return shownDone(granted(await doWalletAct(operator, act, { appId, userId }, { ...wanted, key })));
    },
  );

  routes.show(
    '/operator/apps/:appId/wallets/:userId',
    { params: operatorWalletParamsSchema, query: walletPageSchema, answer: walletDetailsSchema },
    async ({ params, query }) => {
      const before = query.before === undefined ? undefined : placeOf(query.before);
      const found = await operator.wallets.find(params, { before, most: query.limit });
      if (found === undefined) return refuse('NOT_FOUND', 'This user has no wallet for this app.');
      const { wallet, next } = found;
      const owner = await operator.walletOwners.ofWallet(params);
      return { ...found, wallet: shownWallet(wallet), owner, next: next && placeText(next) };
    },
  );
}

/** The acts with one shape. Only a refund may name a payment, so only its schema has the field. */
const MOVEMENTS = [
  ['credit', movementSchema],
  ['refund', refundSchema],
  ['clawback', movementSchema],
  ['reinstate', reinstateSchema],
] as const;

/** Routes that move money into and out of wallets, and lift suspensions (WA-05, WA-06). */
export function addMovementRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.show(
    '/operator/apps/:appId/wallets/:userId/payments',
    { params: operatorWalletParamsSchema, answer: paymentListSchema },
    async ({ params: { appId, userId } }) => ({ payments: await operator.paymentsInto(appId, userId) }),
  );

  for (const [name, body] of MOVEMENTS) {
    routes.act(
      `POST /operator/apps/:appId/wallets/:userId/${name}`,
      { ...MOVES, params: operatorWalletParamsSchema, body },
      async (act, { params, body: sent }) => {
        const wanted = walletActOf({ writeOff: false, ...sent, act: name });
        const key = 'idempotencyKey' in sent ? sent.idempotencyKey : ''; // Lifting a suspension twice does no harm.
        return shownDone(granted(await doWalletAct(operator, act, params, { ...wanted, key })));
      },
    );
  }
}

type Asked = Omit<z.output<typeof walletPreviewSchema>, 'idempotencyKey'>;

/** The act on a wallet that is asked for. Previews and pages ask in the same way. */
export function walletActOf({ act, amountMicros, spendCapMicros, paymentId, writeOff }: Asked): WalletAct {
  if (act === 'open') return { act, cap: sentAmount(spendCapMicros), amount: sentAmount(amountMicros) };
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

function shownDone(done: Wallet | PendingAct) {
  return done instanceof PendingAct ? done : shownWallet(done);
}

/** A wallet with the names that answers have for its amounts: a balance, plus connection and shortfall. */
export function shownWallet<Shown extends Wallet>(wallet: Shown) {
  const status = wallet.isSuspended ? ('suspended' as const) : ('active' as const);
  return { ...wallet, reserved: wallet.held, spendCap: wallet.cap, status };
}

/** The schema lets more through than we write: zeros at the front. */
function placeOf(text: string): Place {
  return parsePlace(text) ?? { move: OPENED_HERE, seq: BigInt(text) };
}
