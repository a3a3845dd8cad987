import { inTransaction } from '../../packages/service/src/db/pool.ts';
import type { EndUserId, PaymentId } from '../../packages/service/src/kernel/ids.ts';
import { micros } from '../../packages/service/src/kernel/micros.ts';
import { APP } from './ledger-database.ts';
import { lockWallet } from './lock-wait.ts';
import type { PaymentsGround } from './payments.ts';

/** Requests for refunds, each with the service's answer. */
export interface Askers {
  /** As an owner requests it. */
  readonly ask: (user: string, amount: number, key: string) => Promise<string>;
  /** As an operator requests it. */
  readonly askOne: (user: string, paymentId: PaymentId, amount: number, key: string) => Promise<string>;
  readonly refundable: (user: string) => Promise<number>;
  /** Runs these while another session locks the wallet, so that all of them run at once. */
  readonly atOnce: (user: string, asks: readonly (() => Promise<string>)[]) => Promise<readonly string[]>;
}

const of = (user: string) => ({ appId: APP, userId: user as EndUserId });

export function askersOf({ ledger, refunds }: Pick<PaymentsGround, 'ledger' | 'refunds'>): Askers {
  return {
    ask: (user, amount, key) => refunds.refundUnused({ ...of(user), amount: micros(BigInt(amount)), key }),
    askOne: async (user, paymentId, amount, key) => {
      const request = { ...of(user), amount: micros(BigInt(amount)), key, paymentId };
      const prepared = await inTransaction(ledger.live, (tx) => refunds.prepare(tx, request));
      return typeof prepared === 'string' ? prepared : refunds.ask(prepared);
    },
    refundable: async (user) => Number(await refunds.refundable(APP, user as EndUserId)),
    atOnce: async (user, asks) => {
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
