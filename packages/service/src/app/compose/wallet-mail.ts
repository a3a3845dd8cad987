import { createAppProfiles } from '#developers/apps/profile.ts';
import type { Mail } from '#app/compose/mail.ts';
import type { TellOwner } from '#connections/alerts.ts';
import { selectConnection } from '#connections/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { selectIdentity } from '#people/queries.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { AppId, IdentityId } from '#kernel/values/ids.ts';
import { alertMail } from '#mail/letters.ts';
import { giftMail, receiptMail } from '#mail/receipt-letters.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import { formatsOf } from '#web/format/formats.ts';

interface WalletMailNeeds {
  readonly mail: Pick<Mail, 'letterhead' | 'send'>;
  readonly isTestMoney: boolean;
  readonly clock: Clock;
}

/** The mails that payers and owners of wallets get about their money: receipts, and alerts about the cap. */
interface WalletMail {
  readonly tellOfPayment: TellOfPayment;
  readonly tellOwner: TellOwner;
}

export function createWalletMail({ mail, isTestMoney, clock }: WalletMailNeeds): WalletMail {
  const { letterhead, send } = mail;
  const formats = formatsOf(); // The language of a person is known while they look at a page only.

  return {
    tellOfPayment: async (tx, { payer, appId, userId, kind, amount, currency, reference }) => {
      const owner = (await selectConnection(tx, appId, userId))?.identity_id;
      const day = formats.day(clock.nowMs());
      const said = { kind, amount: formats.amount(amount, currency), day, reference, isTestMoney };
      for (const identityId of new Set([payer, owner])) {
        const to = identityId && (await addressed(tx, identityId, appId));
        if (to === undefined) continue;
        const letterOf = identityId === payer ? receiptMail : giftMail;
        await send(to.email, letterOf({ ...letterhead, ...said, appName: to.appName }), tx);
      }
    },
    tellOwner: async (tx, { identityId, connectionId, appId, share, spent, cap, currency }) => {
      const to = await addressed(tx, identityId, appId);
      if (to === undefined) return;
      const said = { spent: formats.amount(spent, currency), cap: formats.amount(cap, currency), share, connectionId };
      await send(to.email, alertMail({ ...letterhead, ...said, appName: to.appName }), tx);
    },
  };
}

/** Where to send it, and the app's name. Read in the transaction: waiting in it for another connection could last forever. */
async function addressed(tx: Queryable, identityId: IdentityId, appId: AppId) {
  const identity = await selectIdentity(tx, identityId);
  return identity && { email: identity.email, appName: (await createAppProfiles(tx).find(appId))?.name ?? appId };
}
