import { mailsTo } from './database.ts';
import { totpOf } from '../../packages/service/src/developers/factors/totp.ts';
import type { Person } from './control.ts';
import type { TestService } from './service.ts';
import { sql } from './sql.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator app with this secret shows now, or `later` steps of 30 seconds later. */
export function codeOf(secret: string, later = 0): string {
  const bits = secret
    .split('')
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpOf(Buffer.from(bytes), Math.floor(Date.now() / 30_000) + later);
}

/** Adds an authenticator app to the account. `usedCode` added it, and works for nothing else. */
export async function addAuthenticator(
  owner: Person,
): Promise<{ secret: string; usedCode: string; recoveryCodes: string[] }> {
  const offer = (await owner.get(200, 'POST', '/accounts/current/authenticator')) as Record<string, string>;
  const { secret = '', setupToken } = offer;
  const code = codeOf(secret);
  const added = await owner.get(200, 'PUT', '/accounts/current/authenticator', { setupToken, code });
  return { secret, usedCode: code, recoveryCodes: added['recoveryCodes'] as string[] };
}

/** Acts as if the newest code had been used long ago, so that a test need not wait 30 seconds for the next one. */
export async function forgetSteps({ database }: Pick<TestService, 'database'>): Promise<void> {
  await sql(database)`update accounts.authenticators set last_step = 0`;
}

/** Acts as if every session had been opened eleven minutes ago: too long for a change of the second factor. */
export async function ageProofs({ database }: Pick<TestService, 'database'>): Promise<void> {
  await sql(database)`update accounts.sessions set proved_at = clock_timestamp() - interval '11 minutes'`;
}

/** The mails to this address that have nothing to copy: news about the account, oldest first. */
export async function newsTo({ database }: Pick<TestService, 'database'>, email: string): Promise<readonly string[]> {
  const mails = await mailsTo(database.owner, email);
  return mails.map(({ subject, body }) => `${subject}\n${body ?? ''}`).filter((text) => !/^ {4}\S+$/m.test(text));
}
