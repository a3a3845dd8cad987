import type { TestCardName } from '#payments/test-processor/cards.ts';

/** The texts of the test processor's pages. */
export const TEST_PROCESSOR_TEXTS = {
  title: 'Test payment',
  what: (app: string) => `Top-up of a wallet for ${app}`,
  number: 'Card number',
  /**
   * Somebody will try their own card. So the hint comes before the field is used, and the number is thrown away unread.
   */
  numberHint:
    'Only the numbers below work. Never type the number of a real card: it is refused, and it is neither stored nor logged.',
  pay: (amount: string) => `Pay ${amount} of test money`,
  back: 'Go back without paying',
  cards: 'Test cards',
  cardColumn: 'Number',
  doesColumn: 'What it does',
  /** Timings are those of the test bank. A card that is added there does not compile until it has a text here. */
  does: {
    success: 'The payment succeeds.',
    decline: 'The payment is declined.',
    confirm: 'A second step asks you to confirm, as a bank does. If you refuse, nothing is paid.',
    refund: 'The payment succeeds. The whole amount is refunded ten seconds later.',
    chargeback: 'The payment succeeds. The bank charges it back ten seconds later.',
    chargeback_won: 'The payment succeeds. The bank charges it back ten seconds later, and returns it after ten more.',
    no_refunds: 'The payment succeeds. It cannot be refunded.',
  } satisfies Record<TestCardName, string>,
  declined: 'The card was declined. Nothing was paid. You can try another card.',
  refused: 'You refused to confirm. Nothing was paid. You can try again.',
  unknown: 'This is not one of the test cards. Nothing was paid, and the number was not kept.',
  confirmTitle: 'Confirm the payment',
  confirmText: (amount: string, app: string) => `Your test bank asks you to confirm a payment of ${amount} for ${app}.`,
  confirm: 'Confirm',
  refuse: 'Refuse',
  paidTitle: 'Paid',
  paidText: 'This payment has been made. You will not be charged twice.',
  goOn: 'Continue',
  goneTitle: 'Nothing to pay here',
  goneText: 'There is no test payment at this address.',
} as const;
