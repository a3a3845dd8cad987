import { type Letter, plainName } from '#mail/letter.ts';
import { contact } from '#mail/letters.ts';

/** Mails about money say so when it is not real, as pages do (ON-03). */
const TEST_MONEY = 'This service uses the test processor: no real money moves.';

interface ReceiptMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly supportEmail: string | undefined;
  readonly isTestMoney: boolean;
  readonly kind: 'paid' | 'refunded' | 'refund_failed';
  readonly appName: string;
  /** The amount with its currency, as people read it. */
  readonly amount: string;
  /** The day, as people read it. */
  readonly day: string;
  /** The id of the payment or refund, by which the operator finds it. */
  readonly reference: string;
}

/** The receipt of a top-up or a refund. It goes to the payer, who need not own the wallet, so it says nothing of what is in it. */
export function receiptMail(mail: ReceiptMail): Letter {
  const { kind, amount, day } = mail;
  const app = plainName(mail.appName);
  const said = {
    paid: {
      subject: `Receipt: ${amount} for ${app}`,
      text: `You paid ${amount} into a wallet for the app "${app}" on ${day}.`,
    },
    refunded: {
      subject: `Refund: ${amount} for ${app}`,
      text: `On ${day}, we sent ${amount} from a wallet for the app "${app}" back to the card or account that you paid with. It takes a few days to arrive.`,
    },
    refund_failed: {
      subject: `Refund failed: ${amount} for ${app}`,
      text: `The refund of ${amount} from a wallet for the app "${app}" could not be paid out. Money that had been taken from the wallet for it has been returned to the wallet.`,
    },
  }[kind];
  return moneyLetter(mail, said);
}

/**
 * Tells the owner of a wallet what happened to money that somebody else had paid in. It does not say who: the payer gets a receipt
 * of their own.
 */
export function giftMail(mail: ReceiptMail): Letter {
  const { kind, amount, day } = mail;
  const app = plainName(mail.appName);
  const said = {
    paid: {
      subject: `Somebody paid ${amount} into your wallet for ${app}`,
      text: `Somebody else paid ${amount} into your wallet for the app "${app}" on ${day}. You do not have to do anything.`,
    },
    refunded: {
      subject: `${amount} from your wallet for ${app} was refunded to the payer`,
      text: `On ${day}, we sent ${amount} from your wallet for the app "${app}" back to the person who had paid it in.`,
    },
    refund_failed: {
      subject: `Refund failed: ${amount} from your wallet for ${app}`,
      text: `The refund of ${amount} to the person who had paid it into your wallet for the app "${app}" could not be paid out. Money that had been taken from your wallet for it has been returned to your wallet.`,
    },
  }[kind];
  return moneyLetter(mail, said);
}

function moneyLetter(
  { operatorName, publicUrl, supportEmail, isTestMoney, reference }: ReceiptMail,
  { subject, text }: { readonly subject: string; readonly text: string },
): Letter {
  return {
    sender: operatorName,
    subject,
    parts: [
      { text },
      { text: `Reference: ${reference}` },
      ...(isTestMoney ? [{ text: TEST_MONEY }] : []),
      { link: `${publicUrl}/wallet`, name: 'See your wallets' },
      { text: `If something is wrong, ${contact(operatorName, supportEmail)}.` },
    ],
  };
}
