import type { Brand } from '#kernel/values/brand.ts';

/** An e-mail that identifies a person: in lower case, visible ASCII only. */
export type Email = Brand<string, 'Email'>;

const SHAPE = /^[\x21-\x7e]{1,254}$/;

/**
 * Normalises an e-mail. Undefined when it is not one. Characters beyond ASCII are refused, because some of them turn into
 * ASCII in lower case (the Kelvin sign becomes `k`). Then two different mailboxes would count as the same person.
 */
export function emailOf(typed: string): Email | undefined {
  const email = typed.trim();
  return SHAPE.test(email) ? (email.toLowerCase() as Email) : undefined;
}
