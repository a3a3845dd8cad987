import { ACCOUNT_ADDRESSES } from '#accounts/account-queries.ts';
import type { Pool } from '#db/pool.ts';
import { sealOldRows } from '#db/sealing.ts';
import { IDENTITY_ADDRESSES } from '#identities/queries.ts';
import { deriveKey } from '#kernel/crypto.ts';
import { createEmailSeal, type EmailSeal } from '#kernel/email-seal.ts';
import { MAIL_ADDRESSES } from '#mail/queries.ts';
import { OPERATOR_ADDRESSES } from '#operator/queries.ts';

/** The tables whose addresses are sealed. Lines of the audit trail are sealed too, but never changed: the old ones stay. */
const SEALED_TABLES = [...ACCOUNT_ADDRESSES, ...IDENTITY_ADDRESSES, ...OPERATOR_ADDRESSES, ...MAIL_ADDRESSES];

/** How this service seals addresses. Every pool on its database gets this. */
export function emailSealOf(secret: Buffer): EmailSeal {
  return createEmailSeal(deriveKey(secret, 'emails'));
}

/** Lets a pool read and write addresses, after every row from before version 0.2 is sealed. Returns how many were. */
export async function openAddresses(owner: Pool, emails: EmailSeal): Promise<number> {
  owner.emails = emails;
  return sealOldRows(owner, emails, SEALED_TABLES);
}
