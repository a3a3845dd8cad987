import type { Letter } from '#mail/letter.ts';

interface PendingMail {
  readonly operatorName: string;
  /** Who asked for the act. */
  readonly by: string;
  /** As in the audit trail. */
  readonly action: string;
  /** With its currency, as people read it. */
  readonly amount: string;
}

/** Tells an operator that an act waits for a second person. No link, and no text of the person who asks: the mail must not help an attacker with their session. */
export function pendingMail({ operatorName, by, action, amount }: PendingMail): Letter {
  return {
    sender: operatorName,
    subject: `An act waits for a second person: ${amount}`,
    parts: [
      {
        text: `${by} asked for an act that is too large for one person: ${action}, ${amount}. Nothing has moved.`,
      },
      {
        text: `You may confirm it, and so may the other operators who got this mail. Open ${operatorName} in your browser as you always do, and look at “Second person” under Operations, where their reason is. After 24 hours the act expires. This mail has no link on purpose.`,
      },
      { text: 'If you do not know why they ask, ask them before you confirm anything, and reject it if in doubt.' },
    ],
  };
}
