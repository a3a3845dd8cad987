import {
  WALLET_ROUTES,
  type walletListQuerySchema,
  type walletPreviewSchema,
} from '@purser/contract/operator-wallets.ts';
import type { z } from 'zod';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount, sentMs } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { micros } from '#kernel/values/micros.ts';
import { OPENED_HERE, parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { doWalletAct, type WalletAct } from '#operator/money/wallet-preview.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

const KEY_LENGTH = 22;

/** Routes that list, show and open wallets, show what an act on one would do, move money and lift suspensions (CP-05, WA-05, WA-06). */
export function addWalletRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { walletList, previews } = operator;
  const add = routes(WALLET_ROUTES);

  add('GET /operator/wallets', async ({ query }) => {
    const page = { isOldestFirst: query.sort === 'oldest', after: query.after, most: query.limit };
    const { wallets, next } = granted(await walletList.page(walletFilterOf(query), page));
    return { wallets: wallets.map(shownWallet), next };
  });

  add('POST /operator/apps/{appId}/wallets/{userId}/preview', async ({ act, params, body }) => {
    // Callers' keys cannot contain a space, so this one was never used.
    const key = body.idempotencyKey ?? `preview ${randomBase62(KEY_LENGTH)}`;
    const effects = granted(await previews.walletAct(act, params, { ...walletActOf(body), key }));
    const { isChange, isForTwo, before, after, entries } = effects;
    return {
      changes: isChange,
      needsSecondPerson: isForTwo,
      before: before && shownWallet(before),
      after: shownWallet(after),
      entries,
    };
  });

  add(
    'POST /operator/apps/{appId}/wallets',
    async ({ act, params: { appId }, body: { userId, creditMicros, spendCapMicros, idempotencyKey } }) => {
      const wanted = walletActOf({ act: 'open', amountMicros: creditMicros, spendCapMicros, writeOff: false });
      const key = idempotencyKey ?? ''; // The schema asks for it where there is a credit.
      return shownDone(granted(await doWalletAct(operator, act, { appId, userId }, { ...wanted, key })));
    },
  );

  add('GET /operator/apps/{appId}/wallets/{userId}', async ({ params, query }) => {
    const before = query.before === undefined ? undefined : placeOf(query.before);
    const found = await operator.wallets.find(params, { before, most: query.limit });
    if (found === undefined) return refuse('NOT_FOUND', 'This user has no wallet for this app.');
    const { wallet, next } = found;
    const owner = await operator.walletOwners.ofWallet(params);
    return { ...found, wallet: shownWallet(wallet), owner, next: next && placeText(next) };
  });

  add('GET /operator/apps/{appId}/wallets/{userId}/payments', async ({ params: { appId, userId } }) => ({
    payments: await operator.paymentsInto(appId, userId),
  }));

  for (const name of ['credit', 'refund', 'clawback', 'reinstate'] as const) {
    add(`POST /operator/apps/{appId}/wallets/{userId}/${name}`, async ({ act, params, body: sent }) => {
      const wanted = walletActOf({ writeOff: false, ...sent, act: name });
      const key = 'idempotencyKey' in sent ? sent.idempotencyKey : ''; // Lifting a suspension twice does no harm.
      return shownDone(granted(await doWalletAct(operator, act, params, { ...wanted, key })));
    });
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

type Query = z.output<typeof walletListQuerySchema>;

/** The filter that a query asks for. The page of wallets asks in the same way. */
export function walletFilterOf(query: Omit<Query, 'sort' | 'after' | 'limit'>) {
  const { appId, userId, status, openedFrom, openedBefore, minHeldMicros, minBalanceMicros, maxBalanceMicros } = query;
  return {
    appId,
    userId: userId === '' ? undefined : userId,
    status,
    openedFromMs: sentMs(openedFrom),
    openedBeforeMs: sentMs(openedBefore),
    // Every wallet holds at least nothing.
    minHeld: minHeldMicros === 0 ? undefined : sentAmount(minHeldMicros),
    minBalance: sentAmount(minBalanceMicros),
    maxBalance: sentAmount(maxBalanceMicros),
  };
}
