import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import {
  type CreditKind,
  type CreditOutcome,
  type EndSetAsideOutcome,
  insertCredit,
  insertEndOfSetAside,
  insertSetAside,
  insertTakeBack,
  type Movement,
  type ReinstateOutcome,
  reinstateWallet,
  type SetAsideOutcome,
  type TakeBackKind,
  type TakeBackOutcome,
} from '#ledger/funding/queries.ts';

/** Money into wallets and out of them, other than by calls. Each act counts once, see `Movement`. */
interface Funding {
  /** Books money that came in. Lifts no suspension (WA-04). */
  readonly credit: (credit: Movement<CreditKind>) => Promise<CreditOutcome>;
  /** Books money that went out: takes what is there; the rest is owed and suspends the wallet (WA-05, WA-06). */
  readonly takeBack: (taken: Movement<TakeBackKind>) => Promise<TakeBackOutcome>;
  /** Keeps an amount for a refund that the processor is asked for, out of what no call holds; nothing of a suspended wallet. */
  readonly setAside: (amount: Omit<Movement<never>, 'kind'>) => Promise<SetAsideOutcome>;
  /** Ends what was set aside under a key: it was paid out, or goes back into the wallet. */
  readonly endSetAside: (
    end: Omit<Movement<'refund_paid' | 'refund_released'>, 'amount'>,
  ) => Promise<EndSetAsideOutcome>;
  /**
   * Lifts a suspension, once what is owed is recovered from the balance that no call holds, or, with `writesOff`, given
   * up. `shortfall`: the balance does not cover it, and nothing changed (WA-06).
   */
  readonly reinstate: (wallet: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly writesOff: boolean;
  }) => Promise<ReinstateOutcome>;
}

export function createFunding(db: Queryable): Funding {
  return {
    credit: (credit) => insertCredit(db, credit),
    takeBack: (taken) => insertTakeBack(db, taken),
    setAside: (amount) => insertSetAside(db, amount),
    endSetAside: (end) => insertEndOfSetAside(db, end),
    reinstate: (wallet) => reinstateWallet(db, wallet),
  };
}
