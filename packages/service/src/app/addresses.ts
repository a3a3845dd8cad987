import { ACCOUNT_ADDRESSES } from '#accounts/account-queries.ts';
import type { Pool } from '#db/pool.ts';
import { sealOldRows } from '#db/sealing.ts';
import { IDENTITY_ADDRESSES } from '#identities/queries.ts';
import { createEmailSeal, type EmailSeal } from '#kernel/email-seal.ts';
import type { Keys } from '#kernel/keys.ts';
import { MAIL_ADDRESSES } from '#mail/queries.ts';
import { OPERATOR_ADDRESSES } from '#operator/queries.ts';

/** The tables whose addresses are sealed. Lines of the audit trail are sealed too, but never changed: the old ones stay. */
const SEALED_TABLES = [...ACCOUNT_ADDRESSES, ...IDENTITY_ADDRESSES, ...OPERATOR_ADDRESSES, ...MAIL_ADDRESSES];

/** How this service seals addresses. Every pool on its database gets this. */
export function emailSealOf(keys: Pick<Keys, 'kept'>): EmailSeal {
  return createEmailSeal(keys.kept('emails'));
}

/** Lets a pool read and write addresses, after every row from before addresses were sealed is sealed. Returns how many were. */
export async function openAddresses(owner: Pool, keys: Pick<Keys, 'kept'>): Promise<number> {
  const emails = emailSealOf(keys);
  owner.emails = emails;
  return sealOldRows(owner, emails, SEALED_TABLES);
}
