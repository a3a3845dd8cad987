import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { TEST_CARDS, type TestCardName } from '#payments/test-processor/cards.ts';
import {
  insertTestEvent,
  insertTestPayment,
  selectTestCheckout,
  updateConfirming,
} from '#payments/test-processor/queries.ts';

/** A checkout of the test processor, as its page shows it. */
export interface TestCheckout {
  readonly amount: Micros;
  readonly currency: string;
  readonly appName: string;
  /** Where the payer goes after paying. */
  readonly returnUrl: string;
  /** Where the payer goes if they do not pay. */
  readonly cancelUrl: string;
  /** With `confirming`, the card needs a second step. */
  readonly state: 'open' | 'confirming' | 'paid';
}

/** The bank behind the test processor, as its payers see it (ON-03). It never sees a card number, only the card's name. */
export interface TestBank {
  readonly find: (testCheckout: string) => Promise<TestCheckout | undefined>;
  /** Pays, once however often it is called. `confirm`: a second step is needed first. */
  readonly pay: (testCheckout: string, card: TestCardName) => Promise<'paid' | 'declined' | 'confirm'>;
  /** The second step. `nothing`: no second step was pending. */
  readonly confirm: (testCheckout: string, isConfirmed: boolean) => Promise<'paid' | 'declined' | 'nothing'>;
}

const WEBHOOK_DELAY_MS = 1_500; // Long enough for a developer to see the money arrive.
const LATER_DELAY_MS = 10_000;
const ID_LENGTH = 22;

export const newTestCheckout = (): string => `tch_${randomBase62(ID_LENGTH)}`;
export const newTestRefund = (): string => `tre_${randomBase62(ID_LENGTH)}`;
const newTestPayment = (): string => `tpa_${randomBase62(ID_LENGTH)}`;
/** Events happen in the order of their delays. Their ids say nothing about the order. */
const newTestEvent = (): string => `tev_${randomBase62(ID_LENGTH)}`;

export function createTestBank(pool: Pool): TestBank {
  async function paid(testCheckout: string, card: TestCardName): Promise<'paid'> {
    await inTransaction(pool, async (tx) => {
      const testPayment = newTestPayment();
      if (!(await insertTestPayment(tx, { testPayment, testCheckout, card }))) return;
      await updateConfirming(tx, testCheckout, undefined);
      const acts = ['payment.paid', ...TEST_CARDS[card].later];
      for (const [index, type] of acts.entries()) {
        const delayMs = WEBHOOK_DELAY_MS + index * LATER_DELAY_MS;
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

/** The event that confirms a refund which we asked for. */
export function refundEvent(testPayment: string) {
  return { testEvent: newTestEvent(), testPayment, type: 'refund.paid', delayMs: WEBHOOK_DELAY_MS };
}
