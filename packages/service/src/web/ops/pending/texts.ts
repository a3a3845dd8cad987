/** The texts of the acts that wait for a second person. */
export const PENDING_TEXTS = {
  title: 'Second person',
  what: 'An act above the limit for one person waits here for up to 24 hours, until somebody else confirms it. Until then, no money moves.',
  toWaiting: 'Show only waiting acts',
  actions: new Map([
    ['wallet.open', 'Open a wallet with a credit'],
    ['wallet.credit', 'Credit'],
    ['wallet.refund', 'Refund'],
    ['wallet.clawback', 'Claw-back'],
    ['wallet.reinstate', 'Write off and reinstate'],
  ]),
  states: { waiting: 'waiting', done: 'done', rejected: 'rejected', expired: 'expired' },
  exactly: (micros: string) => `${micros} micros`,
  effect: 'What it does to the wallet',
  effectWhat:
    'These figures are from when the act was requested. The act is checked again when you confirm it, because the balance may have changed since.',
  own: 'You requested this act. Somebody else has to confirm it. You can reject it.',
  done: new Map([
    ['asked', 'The act is waiting. Somebody else has to confirm it within 24 hours.'],
    ['confirmed', 'The act was done.'],
    ['rejected', 'The act was rejected. No money was moved.'],
  ]),
} as const;
