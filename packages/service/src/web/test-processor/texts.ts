import type { TestCardName } from '#payments/test-processor/cards.ts';

/** What the pages of the test processor say. */
export const TEST_PROCESSOR_TEXTS = {
  title: 'Test payment',
  what: (app: string) => `Top-up of a wallet for ${app}`,
  amount: 'Amount',
  number: 'Card number',
  numberHint:
    'Only the numbers below are taken. Never type the number of a real card: it would be refused, and it is neither stored nor logged.',
  pay: (amount: string) => `Pay ${amount} of test money`,
  back: 'Back without paying',
  cards: 'Test cards',
  cardColumn: 'Number',
  doesColumn: 'What it does',
  does: {
    success: 'The payment succeeds.',
    decline: 'The payment is declined.',
    confirm: 'A second step asks you to confirm, as a bank does; refuse, and nothing is paid.',
    refund: 'It succeeds, and the whole amount is refunded ten seconds later.',
    chargeback: 'It succeeds, and the bank charges it back ten seconds later.',
    chargeback_won: 'It succeeds, is charged back ten seconds later, and given back after ten more.',
    no_refunds: 'It succeeds, and takes no refund.',
  } satisfies Record<TestCardName, string>,
  declined: 'The card was declined. Nothing was paid. You can try another card.',
  refused: 'The second step was refused. Nothing was paid. You can try again.',
  unknown: 'That is not one of the test cards. Nothing was paid, and the number was not kept.',
  confirmTitle: 'Confirm the payment',
  confirmText: (amount: string, app: string) =>
    `Your make-believe bank asks whether you want to pay ${amount} for ${app}.`,
  confirm: 'Confirm',
  refuse: 'Refuse',
  paidTitle: 'Paid',
  paidText: 'This payment was made. It is not made twice.',
  goOn: 'Go on',
  goneTitle: 'Nothing to pay here',
  goneText: 'There is no test payment at this address.',
} as const;
