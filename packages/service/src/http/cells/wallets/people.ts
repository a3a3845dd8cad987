import { z } from 'zod';
import type { Connection } from '#connections/connection.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { appIdSchema, microsSchema } from '#http/cells/questions/schemas.ts';
import { type Email, emailOf } from '#people/email.ts';
import type { SignInElsewhere } from '#people/hand-over.ts';
import { type ConnectionId, parseId, type SessionId } from '#kernel/values/ids.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';

/** What cells ask each other about people who own wallets. E-mail addresses are in bodies only, never in a path or a log. */

/** An e-mail and a session id. */
const BODY_BYTES_MAX = 1_024;
/** A page waits for it. A cell that takes longer is left out, and the page says so. */
const WAIT_MS_MAX = 1_000;
const limits = { bytesMax: BODY_BYTES_MAX, waitMs: WAIT_MS_MAX };

const emailSchema = z.custom<Email>((text) => typeof text === 'string' && emailOf(text) === text);
const sessionSchema = z.custom<SessionId>((id) => typeof id === 'string' && parseId('session', id) !== undefined);
const connectionSchema = z.custom<ConnectionId>(
  (id) => typeof id === 'string' && parseId('connection', id) !== undefined,
);

/**
 * `POST /cells/address` asks for the public address of the pages there, without a trailing slash. People are sent to no
 * other.
 */
export const ADDRESS: CellQuestion<object, { readonly publicUrl: string }> = {
  ...limits,
  path: '/cells/address',
  asked: z.object({}),
  answer: z.object({ publicUrl: z.url({ protocol: /^https?$/ }) }),
};

/** A connection as the list of wallets shows it. */
export interface ListedConnection
  extends Pick<Connection, 'connectionId' | 'appId' | 'consentedAtMs' | 'isPaused'>,
    Partial<Pick<Connection, 'userLabel' | 'cap'>> {
  readonly wallet: Pick<
    Wallet,
    'currency' | 'isConnected' | 'isSuspended' | 'balance' | 'held' | 'available' | 'spentThisMonth'
  >;
}

/** `POST /cells/wallets` asks what a person has connected there. A person who is unknown there has nothing. */
export const WALLETS: CellQuestion<{ readonly email: Email }, readonly ListedConnection[]> = {
  ...limits,
  path: '/cells/wallets',
  asked: z.object({ email: emailSchema }),
  answer: z.array(
    z.object({
      connectionId: connectionSchema,
      appId: appIdSchema,
      userLabel: z.string().optional(),
      consentedAtMs: z.number(),
      isPaused: z.boolean(),
      cap: microsSchema.optional(),
      wallet: z.object({
        currency: z.string(),
        isConnected: z.boolean(),
        isSuspended: z.boolean(),
        balance: microsSchema,
        held: microsSchema,
        available: microsSchema,
        spentThisMonth: microsSchema,
      }),
    }),
  ),
};

/** `POST /cells/session` asks whether a sign-in that is being handed over is still in force there. */
export const SESSION: CellQuestion<SignInElsewhere, { readonly isInForce: boolean }> = {
  ...limits,
  path: '/cells/session',
  asked: z.object({ email: emailSchema, sessionId: sessionSchema }),
  answer: z.object({ isInForce: z.boolean() }),
};

interface SignOut {
  readonly email: Email;
  /** The session to end. Undefined means all sessions of this person. */
  readonly sessionId?: SessionId | undefined;
}

/** `POST /cells/sign-out` ends one sign-in of a person there, or all of them with every code that was mailed. */
export const SIGN_OUT: CellQuestion<SignOut, object> = {
  ...limits,
  path: '/cells/sign-out',
  asked: z.object({ email: emailSchema, sessionId: sessionSchema.optional() }),
  answer: z.object({}),
};
