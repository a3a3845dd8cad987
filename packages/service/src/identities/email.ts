import type { Brand } from '#kernel/brand.ts';

/** An e-mail as people are told apart by it: in lower case, and of visible ASCII alone. */
export type Email = Brand<string, 'Email'>;

const SHAPE = /^[\x21-\x7e]{1,254}$/;

/**
 * The same for what is written alike; undefined for what is none. Not a letter beyond ASCII: some become others in lower case
 * (the Kelvin sign is a `k` then), and who has the one mailbox would be who has the other.
 */
export function emailOf(typed: string): Email | undefined {
  const email = typed.trim();
  return SHAPE.test(email) ? (email.toLowerCase() as Email) : undefined;
}
