import { createEmailSeal, type EmailSeal } from '#kernel/values/email-seal.ts';
import type { Keys } from '#kernel/crypto/keys.ts';

/** How this service seals addresses. Every pool on its database gets this. */
export function emailSealOf(keys: Pick<Keys, 'kept'>): EmailSeal {
  return createEmailSeal(keys.kept('emails'));
}
