import type { Pool } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { type CreditOutcome, insertContractCredit } from '#ledger/queries.ts';

/** Money into wallets. */
interface Funding {
  /**
   * Books money that the operator received by contract. `key` counts once for each wallet: again with the same amount
   * is `repeated` and books nothing, with another amount `conflict`; `no_wallet` where there is none.
   */
  readonly creditContract: (credit: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly amount: Micros;
    readonly key: string;
  }) => Promise<CreditOutcome>;
}

export function createFunding(pool: Pool): Funding {
  return { creditContract: (credit) => insertContractCredit(pool, credit) };
}
