import type { Letter } from '#mail/letter.ts';

interface PendingMail {
  readonly operatorName: string;
  /** Who asked for the act. */
  readonly by: string;
  /** The action, as in the audit trail. */
  readonly action: string;
  /** The amount with its currency, as people read it. */
  readonly amount: string;
}

/** Tells an operator that an act waits for a second person. No link, and no text of the person who asks: the mail must not help an attacker with their session. */
export function pendingMail({ operatorName, by, action, amount }: PendingMail): Letter {
  return {
    sender: operatorName,
    subject: `An act is waiting for a second person: ${amount}`,
    parts: [
      {
        text: `${by} requested an act that is too large for one person: ${action}, ${amount}. No money has moved.`,
      },
      {
        text: `You can confirm it, and so can the other operators who received this e-mail. Open ${operatorName} in your browser as you always do, and go to “Second person” under Operations to read the reason. The act expires after 24 hours. This e-mail deliberately contains no link.`,
      },
      {
        text: 'If you do not know why they requested it, ask them before you confirm anything. If in doubt, reject it.',
      },
    ],
  };
}
