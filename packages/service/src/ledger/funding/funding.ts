import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import {
  type CreditKind,
  type CreditOutcome,
  type EndSetAsideOutcome,
  type GiveUpOutcome,
  insertCredit,
  insertEndOfSetAside,
  insertGivenUp,
  insertSetAside,
  insertTakeBack,
  type Movement,
  type ReinstateOutcome,
  reinstateWallet,
  type SetAsideOutcome,
  type TakeBackKind,
  type TakeBackOutcome,
} from '#ledger/funding/queries.ts';

/** Moves money into and out of wallets for every reason but calls. Each key counts once, see `Movement`. */
interface Funding {
  /** Books money that came in. It does not lift a suspension (WA-04). */
  readonly credit: (credit: Movement<CreditKind>) => Promise<CreditOutcome>;
  /**
   * Books money that went out. It takes what the wallet has, held money included. The rest is owed to us and suspends the
   * wallet (WA-05, WA-06).
   */
  readonly takeBack: (taken: Movement<TakeBackKind>) => Promise<TakeBackOutcome>;
  /**
   * Moves an amount out of the wallet before the processor is asked to refund it, so that no call can spend it meanwhile.
   * Takes only money that no call holds, and refuses a suspended wallet.
   */
  readonly setAside: (amount: Omit<Movement<never>, 'kind'>) => Promise<SetAsideOutcome>;
  /** Ends the set-aside under a key, once: the money was paid out, or it goes back into the wallet. */
  readonly endSetAside: (
    end: Omit<Movement<'refund_paid' | 'refund_released'>, 'amount'>,
  ) => Promise<EndSetAsideOutcome>;
  /** Books all that is left in a wallet as given up by its owner, who has named the amount (CP-12). */
  readonly giveUp: (left: Pick<Movement<never>, 'appId' | 'userId' | 'amount'>) => Promise<GiveUpOutcome>;
  /**
   * Lifts a suspension. First it recovers the shortfall from the balance that no call holds or, with `writesOff`, gives it
   * up. `shortfall`: the balance does not cover the shortfall, and nothing has changed (WA-06).
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
    giveUp: (left) => insertGivenUp(db, left),
    reinstate: (wallet) => reinstateWallet(db, wallet),
  };
}
