import { createAppProfiles } from '#accounts/app-profile.ts';
import type { Config } from '#app/config.ts';
import type { SendMail } from '#app/mail.ts';
import type { TellOwner } from '#connections/alerts.ts';
import type { Queryable } from '#db/pool.ts';
import { selectIdentity } from '#identities/queries.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AppId, IdentityId } from '#kernel/ids.ts';
import { alertMail, receiptMail } from '#mail/letters.ts';
import type { TellPayer } from '#payments/news.ts';
import { formatsOf } from '#web/format/formats.ts';

interface WalletMailOptions {
  readonly config: Pick<Config, 'operatorName' | 'publicUrl' | 'supportEmail' | 'payments'>;
  readonly clock: Clock;
  readonly sendMail: SendMail;
}

/** The mails that payers and owners of wallets get about their money: receipts, and alerts about the cap. */
export function createWalletMail({ config, clock, sendMail }: WalletMailOptions): {
  readonly tellPayer: TellPayer;
  readonly tellOwner: TellOwner;
} {
  const isTestMoney = config.payments.processor === 'test';
  const formats = formatsOf(); // The language of a person is known while they look at a page only.

  return {
    tellPayer: async (tx, { payer, appId, kind, amount, currency, reference }) => {
      const to = await addressed(tx, payer, appId);
      if (to === undefined) return;
      const day = formats.day(clock.nowMs());
      const said = { kind, amount: formats.amount(amount, currency), day, reference, isTestMoney };
      await sendMail(to.email, receiptMail({ ...config, ...said, appName: to.appName }), tx);
    },
    tellOwner: async (tx, { identityId, connectionId, appId, share, spent, cap, currency }) => {
      const to = await addressed(tx, identityId, appId);
      if (to === undefined) return;
      const said = { spent: formats.amount(spent, currency), cap: formats.amount(cap, currency), share, connectionId };
      await sendMail(to.email, alertMail({ ...config, ...said, appName: to.appName }), tx);
    },
  };
}

/** Where to send it, and the app's name. Read in the transaction: waiting in it for another connection could last forever. */
async function addressed(tx: Queryable, identityId: IdentityId, appId: AppId) {
  const identity = await selectIdentity(tx, identityId);
  return identity && { email: identity.email, appName: (await createAppProfiles(tx).find(appId))?.name ?? appId };
}
