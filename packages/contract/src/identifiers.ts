import { z } from 'zod';

/** An app's name for one of its end users: 1 to 256 visible ASCII characters (AU-04). */
export const END_USER_ID = /^[\x21-\x7e]{1,256}$/;

/** A call's idempotency key: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Our own ids in a path or a body. The brand keeps the ids of different things apart at compile time. The text is not
 * checked: a malformed id finds nothing, like one that was never made, and both get the same 404.
 */
export const accountId = z.string().brand<'AccountId'>();
export const appId = z.string().brand<'AppId'>();
export const keyId = z.string().brand<'KeyId'>();
export const identityId = z.string().brand<'IdentityId'>();
export const sessionId = z.string().brand<'SessionId'>();
export const listenerId = z.string().brand<'ListenerId'>();
export const paymentId = z.string().max(64).brand<'PaymentId'>();

export const userId = z
  .string()
  .regex(END_USER_ID, { error: 'must be 1 to 256 visible ASCII characters, without spaces' })
  .brand<'EndUserId'>()
  .meta({ description: 'The app’s name for the user, as in `x-service-user`.', examples: ['anna'] });
