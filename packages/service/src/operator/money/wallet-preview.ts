import type { Pool, Queryable } from '#db/pool/pool.ts';
import { rehearse } from '#db/pool/rehearsal.ts';
import { assert, unreachable } from '#kernel/faults/assert.ts';
import { createConcurrencyLimit } from '#kernel/work/concurrency-limit.ts';
import type { PaymentId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { selectJournalAfter, selectWalletState } from '#ledger/overview/operator-queries.ts';
import { type Wallet, walletOf } from '#ledger/wallet/wallet.ts';
import type { Act } from '#operator/acts/act.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import type { WalletOwners } from '#operator/people/wallet-owners.ts';
import type { WalletName } from '#operator/money/money-acts.ts';
import type { OperatorWallets } from '#operator/money/wallets.ts';

/** An act on a wallet, with what it needs besides the wallet and its reason. */
export type WalletAct =
  | { readonly act: 'open'; readonly cap: Micros | undefined; readonly amount: Micros | undefined }
  | { readonly act: 'credit' | 'clawback'; readonly amount: Micros }
  | { readonly act: 'refund'; readonly amount: Micros; readonly paymentId: PaymentId | undefined }
  | { readonly act: 'reinstate'; readonly writesOff: boolean }
  | { readonly act: 'release' };

interface WalletDesks {
  readonly wallets: OperatorWallets;
  readonly walletOwners: WalletOwners;
}

/** What an act does to a wallet and its books. */
export type WalletEffects = Awaited<ReturnType<typeof effectsOn>>;

type ActRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST' | 'FORBIDDEN'>;

/** Does an act on a wallet. `key` counts once for each wallet and kind of act. */
export function doWalletAct(
  { wallets, walletOwners }: WalletDesks,
  by: Act,
  { appId, userId }: WalletName,
  { key, ...wanted }: WalletAct & { readonly key: string },
): Promise<Wallet | PendingAct | ActRefusal> {
  const wallet = { appId, userId };
  switch (wanted.act) {
    case 'open': {
      const credit = wanted.amount === undefined ? undefined : { amount: wanted.amount, key };
      return wallets.act(by, { kind: 'open', ...wallet, cap: wanted.cap, credit });
    }
    case 'credit':
    case 'clawback': {
      const kind = wanted.act === 'credit' ? 'credit' : 'clawBack';
      return wallets.act(by, { kind, ...wallet, amount: wanted.amount, key });
    }
    case 'refund':
      return wallets.act(by, { kind: 'refund', ...wallet, amount: wanted.amount, key, paymentId: wanted.paymentId });
    case 'reinstate':
      return wallets.act(by, { kind: 'reinstate', ...wallet, writesOff: wanted.writesOff });
    case 'release':
      return walletOwners.release(by, wallet);
    default:
      return unreachable(wanted);
  }
}

type Busy = Refusal<'TOO_MANY_REQUESTS'>;

/** Shows what an act would do. The act itself runs, and is rolled back, so a refusal is the act's own. */
export type Previews = ReturnType<typeof createPreviews>;

/** The reason of an act that leaves no line in the audit trail. */
const REASON = 'preview';
/** A take-back writes two entries; nothing writes more. */
const ENTRIES_MAX = 10;
/** Each rehearsal holds two connections. */
const REHEARSALS = { runningMax: 1, waitingMax: 20 };

/**
 * The function `desksOn` makes the acts on another pool. They must not ask anybody outside the database, nor send mail.
 */
export function createPreviews(pool: Pool, desksOn: (pool: Pool) => WalletDesks) {
  const rehearsals = createConcurrencyLimit(REHEARSALS);
  return {
    walletAct: async (
      by: Act,
      wallet: WalletName,
      wanted: WalletAct & { readonly key: string },
    ): Promise<WalletEffects | ActRefusal | Busy> => {
      const shown = async (limits: Act['limits']) => {
        // Before the act has locks: acts that wait for them may have all other connections.
        const outside = await pool.connect();
        try {
          return await rehearse(pool, async (rehearsal) => {
            const desks = desksOn(rehearsal.pool);
            const done = await doWalletAct(desks, { ...by, reason: REASON, limits }, wallet, wanted);
            return done instanceof Refusal || done instanceof PendingAct ? done : effectsOn(outside, rehearsal, wallet);
          });
        } finally {
          outside.release();
        }
      };
      return (
        (await rehearsals.run(async () => {
          const first = await shown(by.limits);
          if (!(first instanceof PendingAct)) return first;
          // It would wait for a second person. What it does then is found out without limits, and in a rehearsal of its own:
          // the first one has the lock of the operator, which no act takes before that of a wallet.
          const later = await shown(undefined);
          assert(!(later instanceof PendingAct), 'nothing waits that nothing bounds');
          return later instanceof Refusal ? later : { ...later, isForTwo: true };
        })) ?? busy()
      );
    },
    /** The person as they would be with another e-mail. */
    identityMove: async (...asked: Parameters<WalletOwners['move']>) =>
      (await rehearsals.run(() => rehearse(pool, (inside) => desksOn(inside.pool).walletOwners.move(...asked)))) ??
      busy(),
  };
}

/** What a rehearsed act has done to its wallet. */
async function effectsOn(
  outside: Queryable,
  rehearsal: { readonly pool: Pool; readonly hasCommitted: () => boolean },
  wallet: WalletName,
) {
  const after = await selectWalletState(rehearsal.pool, wallet);
  assert(after !== undefined, 'an act that was done has a wallet');
  // From outside: an act that changes the wallet still has its lock, so this is exactly what it found. If the wallet is as new
  // outside, the act has left it alone.
  const found = await selectWalletState(outside, wallet);
  const before = found === undefined || found.version < after.version ? found : after;
  const seq = before?.entry_seq ?? 0n;
  const entries = before === after ? [] : await selectJournalAfter(rehearsal.pool, after.wallet_id, seq, ENTRIES_MAX);
  return {
    /** Tells whether the act changes anything. It is false if its key was used for it, or if there is nothing to change. */
    isChange: rehearsal.hasCommitted(),
    /** The act is above the amount for one person: it waits until a second one confirms it. */
    isForTwo: false as boolean,
    /** The wallet before the act. It is undefined if the act opens the wallet. */
    before: before && walletOf(before),
    after: walletOf(after),
    /** What the act books, in this order. */
    entries,
  };
}

function busy(): Busy {
  return refuse('TOO_MANY_REQUESTS', 'Too many previews are being made. Try again.', { retryAfterSeconds: 1 });
}
