import { inTransaction } from '../../packages/service/src/db/pool/pool.ts';
import { waitForLocks } from '../../packages/service/src/db/processes/queries.ts';
import type { EndUserId, PaymentId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { APP } from './ledger-database.ts';
import { lockWallet } from './lock-wait.ts';
import type { PaymentsGround } from './payments.ts';

const of = (user: string) => ({ appId: APP, userId: user as EndUserId });

/** Requests for refunds, each with the service's answer. */
export function askersOf({ ledger, refunds }: Pick<PaymentsGround, 'ledger' | 'refunds'>) {
  return {
    /** Requests a refund as an owner does. */
    ask: (user: string, amount: number, key: string) =>
      refunds.refundUnused({ ...of(user), amount: micros(BigInt(amount)), key }),
    /** Requests a refund as an operator does. */
    askOne: async (user: string, paymentId: PaymentId, amount: number, key: string) => {
      const request = { ...of(user), amount: micros(BigInt(amount)), key, paymentId };
      const prepared = await inTransaction(ledger.live, async (tx) => {
        await waitForLocks(tx);
        return refunds.prepare(tx, request);
      });
      return typeof prepared === 'string' ? prepared : refunds.ask(prepared);
    },
    refundable: async (user: string) => Number(await refunds.refundable(APP, user as EndUserId)),
    /** Runs these while another session locks the wallet, so that all of them run at once. */
    atOnce: async (user: string, asks: readonly (() => Promise<string>)[]) => {
      const lock = await lockWallet(ledger.database, user);
      const happens = async (): Promise<void> => {
        await lock.waiting(asks.length);
        await lock.release();
      };
      const [answers] = await Promise.all([Promise.all(asks.map((one) => one())), happens()]);
      return answers;
    },
  };
}
