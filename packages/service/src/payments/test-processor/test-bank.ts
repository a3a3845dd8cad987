import { inTransaction, type Pool } from '#db/pool.ts';
import type { Micros } from '#kernel/micros.ts';
import { microsFromRow } from '#kernel/micros.ts';
import { randomBase62 } from '#kernel/random.ts';
import { TEST_CARDS, type TestCardName } from '#payments/test-processor/cards.ts';
import {
  insertTestEvent,
  insertTestPayment,
  selectTestCheckout,
  updateConfirming,
} from '#payments/test-processor/queries.ts';

/** A place to pay, as its page shows it. */
export interface TestCheckout {
  readonly amount: Micros;
  readonly currency: string;
  readonly appName: string;
  /** Where the payer goes after paying; where, if he does not want to. */
  readonly returnUrl: string;
  readonly cancelUrl: string;
  /** `confirming`: a card was taken that asks for a second step. */
  readonly state: 'open' | 'confirming' | 'paid';
}

/** The make-believe bank, as its payers see it (ON-03). No card number gets here, only what the card does. */
export interface TestBank {
  readonly find: (testCheckout: string) => Promise<TestCheckout | undefined>;
  /** Pays, once however often. `confirm`: a second step is needed first. */
  readonly pay: (testCheckout: string, card: TestCardName) => Promise<'paid' | 'declined' | 'confirm'>;
  /** The second step. `nothing`: none was waited for. */
  readonly confirm: (testCheckout: string, isConfirmed: boolean) => Promise<'paid' | 'declined' | 'nothing'>;
}

const NOTICE_DELAY_MS = 1_500; // So that somebody sees the money arrive.
const LATER_DELAY_MS = 10_000;
const ID_LENGTH = 22;

export const newTestCheckout = (): string => `tch_${randomBase62(ID_LENGTH)}`;
export const newTestRefund = (): string => `tre_${randomBase62(ID_LENGTH)}`;
const newTestPayment = (): string => `tpa_${randomBase62(ID_LENGTH)}`;
/** Names of events come in the order in which they are due only by their delays. */
const newTestEvent = (): string => `tev_${randomBase62(ID_LENGTH)}`;

export function createTestBank(pool: Pool): TestBank {
  async function paid(testCheckout: string, card: TestCardName): Promise<'paid'> {
    await inTransaction(pool, async (tx) => {
      const testPayment = newTestPayment();
      if (!(await insertTestPayment(tx, { testPayment, testCheckout, card }))) return;
      await updateConfirming(tx, testCheckout, undefined);
      const acts = ['payment.paid', ...TEST_CARDS[card].later];
      for (const [index, type] of acts.entries()) {
        const delayMs = NOTICE_DELAY_MS + index * LATER_DELAY_MS;
        await insertTestEvent(tx, { testEvent: newTestEvent(), testPayment, type, delayMs });
      }
    });
    return 'paid';
  }

  return {
    find: async (testCheckout) => {
      const row = await selectTestCheckout(pool, testCheckout);
      if (row === undefined) return undefined;
      const waiting = row.confirming === null ? 'open' : 'confirming';
      return {
        amount: microsFromRow(row.amount_micros),
        currency: row.currency,
        appName: row.app_name,
        returnUrl: row.return_url,
        cancelUrl: row.cancel_url,
        state: row.test_payment === null ? waiting : 'paid',
      };
    },
    pay: async (testCheckout, card) => {
      const { answer } = TEST_CARDS[card];
      if (answer === 'paid') return paid(testCheckout, card);
      await updateConfirming(pool, testCheckout, answer === 'confirm' ? card : undefined);
      return answer;
    },
    confirm: async (testCheckout, isConfirmed) => {
      const row = await selectTestCheckout(pool, testCheckout);
      if (row?.confirming === null || row === undefined) return 'nothing';
      if (isConfirmed) return paid(testCheckout, row.confirming);
      await updateConfirming(pool, testCheckout, undefined);
      return 'declined';
    },
  };
}

/** The notice of a refund that was asked for. */
export function refundEvent(testPayment: string) {
  return { testEvent: newTestEvent(), testPayment, type: 'refund.paid', delayMs: NOTICE_DELAY_MS };
}
