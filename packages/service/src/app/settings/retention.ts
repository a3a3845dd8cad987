import type { SettingsReader } from '#app/environment/settings-reader.ts';

/** The days for which each kind of row that is about people is kept. 0 means that it is never deleted. */
export interface Retention {
  /** Mails, sent or not. */
  readonly mailDays: number;
  /** The days for sign-ins and failed attempts, and for the network addresses of the audit trail. */
  readonly signInDays: number;
  /** Events of webhooks that were delivered or dropped, with their attempts. */
  readonly webhookDays: number;
}

const DAYS = { least: 0, most: 3_650 };

/**
 * How long what is about people stays. Entries, receipts and payments have no such setting: balances are derived from them
 * (`docs/guides/operator/privacy.md`).
 */
export function readRetention(settings: SettingsReader): Retention {
  return {
    mailDays: settings.whole('PURSER_MAIL_DAYS', DAYS, 7),
    signInDays: settings.whole('PURSER_SIGN_IN_DAYS', DAYS, 90),
    webhookDays: settings.whole('PURSER_WEBHOOK_DAYS', DAYS, 30),
  };
}
