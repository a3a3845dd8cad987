import { z } from 'zod';
import { APP_ROLES } from './access.ts';
import { appId, sessionId, userId } from './identifiers.ts';
import { OPERATOR_ROLES } from './operator-access.ts';
import { shownText } from './shown-text.ts';
import { nextPage, pageLimit } from './pages.ts';

/**
 * Requests and answers of the control plane (CP-01 to CP-03). Requests are strict objects: an unknown field is refused by
 * its name, so that a misspelt one is not ignored in silence.
 */

const EMAIL_LENGTH_MAX = 254; // RFC 5321.
const PASSWORD_LENGTH_MIN = 10;
const PASSWORD_LENGTH_MAX = 256;
const NAME_LENGTH_MAX = 100;
const REDIRECT_URIS_MAX = 20;
const REDIRECT_URI_LENGTH_MAX = 2_048;
const LOGO_LENGTH_MAX = 21_880; // 16 KiB in base64, plus the longest prefix: `data:image/jpeg;base64,`.

/** An e-mail address of an account. Shared by registration and by operators who create accounts. */
export const email = z
  .email({ error: 'must be an e-mail address' })
  .max(EMAIL_LENGTH_MAX)
  .meta({ description: 'An e-mail address. Upper and lower case make no difference.', examples: ['anna@example.com'] });
/** A new password. Length is the only rule: other rules make people choose predictable passwords. */
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH_MIN)
  .max(PASSWORD_LENGTH_MAX)
  .meta({ description: 'A password of 10 to 256 characters of any kind.', examples: ['ten or more characters'] });
/** The password of an existing account. It is only compared, so the rules for new ones do not apply. */
const password = z.string().max(PASSWORD_LENGTH_MAX);
/** A display name of an account or an app, shown to other people. */
export const name = shownText(NAME_LENGTH_MAX).meta({ examples: ['My app'] });
/** A moment in an answer. Always UTC with a trailing `Z`, so that texts sort by time. */
export const moment = z.iso.datetime().meta({ description: 'A moment in UTC, in ISO 8601.' });

/** An account as its owner sees it. `role` decides whether the operator plane is open to it (CP-05). */
export const accountSchema = z
  .object({
    accountId: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum(['owner', 'operator']),
    operatorRole: z
      .enum(OPERATOR_ROLES)
      .nullable()
      .meta({ description: 'The role among operators. It is null if the account is no operator.' }),
    emailVerified: z.boolean().meta({ description: 'Until it is true, the account cannot make live keys.' }),
    secondFactor: z.enum(['off', 'on']).meta({ description: 'With `on`, a password alone opens no session.' }),
    createdAt: moment,
  })
  .meta({ id: 'Account' });

/** A new account. Its role is not a field: registration always makes an owner. */
export const registerSchema = z.strictObject({ email, password: newPassword, name: name.optional() });
/** A sign-in. The e-mail is not validated: one that cannot exist fails like any other wrong one. */
export const signInSchema = z.strictObject({ email: z.string().max(EMAIL_LENGTH_MAX), password });

/** The answer to a sign-in. The token is shown only here; the database keeps its digest. */
export const signedInSchema = z
  .object({ sessionToken: z.string(), sessionId: z.string(), expiresAt: moment, account: accountSchema })
  .meta({ id: 'SignedIn' });
/** A session in the list of an account's sessions, without its token. */
export const sessionSchema = z
  .object({
    sessionId: z.string(),
    createdAt: moment,
    lastUsedAt: moment,
    expiresAt: moment,
    current: z.boolean(),
  })
  .meta({ id: 'Session' });
export const sessionListSchema = z.object({ sessions: z.array(sessionSchema) });
export const currentSessionSchema = z.object({ sessionId: z.string(), expiresAt: moment, account: accountSchema });
export const sessionParamsSchema = z.object({
  sessionId: sessionId.meta({
    description: 'The id of a session, `current` for this session, or `others` for all sessions except this one.',
  }),
});

export const changePasswordSchema = z.strictObject({ currentPassword: password, newPassword });
export const requestResetSchema = z.strictObject({ email: z.string().max(EMAIL_LENGTH_MAX) });
/** The token from the mail and the new password. The token is all that a person without a password can prove. */
export const resetPasswordSchema = z.strictObject({ token: z.string().max(256), newPassword });

/** Where users may be sent back to. HTTP is allowed on this machine only, for development. */
const redirectUri = z
  .string()
  .max(REDIRECT_URI_LENGTH_MAX)
  .refine(isRedirectUri, { error: 'must be an https address, or http on localhost, without a fragment' })
  .meta({
    description:
      'An https address, or an http address on localhost, without a fragment. It is compared character by character.',
    examples: ['https://app.example/back'],
  });

/** The role of a member of an app. What each may do is in `access.ts`. */
export const appRole = z
  .enum(APP_ROLES)
  .meta({ description: 'The role of a member. From the fewest rights to the most: `viewer`, `developer`, `owner`.' });

/** An app as its members see it. `anyAppSchema` adds what only operators see. */
export const appSchema = z
  .object({
    appId: z.string(),
    name: z.string(),
    redirectUris: z.array(z.string()),
    returnUri: z.string().nullable(),
    status: z
      .enum(['active', 'suspended'])
      .meta({ description: 'The keys of a `suspended` app are refused with a 403 `APP_SUSPENDED`.' }),
    role: appRole,
    createdAt: moment,
  })
  .meta({ id: 'App' });
export const appListSchema = z.object({ apps: z.array(appSchema) });
export const appParamsSchema = z.object({ appId });
export const newAppSchema = z.strictObject({
  name,
  redirectUris: z.array(redirectUri).max(REDIRECT_URIS_MAX).default([]),
});
/** A change of an app. The list of redirect addresses is replaced as a whole, so that an address can be taken off it. */
export const changeAppSchema = z.strictObject({
  name: name.optional(),
  redirectUris: z.array(redirectUri).max(REDIRECT_URIS_MAX).optional(),
  returnUri: z
    .string()
    .max(REDIRECT_URI_LENGTH_MAX)
    .nullable()
    .optional()
    .meta({
      description:
        'The address to which the pages lead users back after a payment. It must be one of `redirectUris`, and is opened as it is, without `status` and `state`. If it is null, the first of `redirectUris` is used.',
      examples: ['https://app.example/back'],
    }),
});

/** A picture in JSON rather than as a raw body, so that one exact reader serves every route. */
export const putLogoSchema = z.strictObject({
  image: z
    .string()
    .max(LOGO_LENGTH_MAX)
    .meta({
      description:
        'A PNG, JPEG or WebP picture of at most 16 KiB and 1,024 by 1,024 pixels, as a `data:` address in base64. Square pictures look best.',
      examples: [
        'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPgjfEGAAEuALVo5pZVAAAAAElFTkSuQmCC',
      ],
    }),
});
export const logoSchema = z
  .object({
    logoUrl: z.string().meta({ description: 'The address of the picture. A new picture gets a new address.' }),
  })
  .meta({ id: 'Logo' });

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The scheme, two slashes and the host, as they are written. */
const ORIGIN = /^https?:\/\/([^/?@:[\]]+|\[[\da-f:]+\])(?:[:/?]|$)/i;

/**
 * Whether a browser may be sent back to this address. The allow-list is compared as text, so the address is stored exactly
 * as it is written. An address that a parser would have to repair (`https:/a.test`, `http://127.1`) is refused, because
 * another parser may repair it differently and send the user elsewhere.
 */
function isRedirectUri(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('#') || text.includes('\\')) return false;
  const url = URL.parse(text);
  const host = ORIGIN.exec(text)?.[1];
  if (url === null || url.username !== '' || url.password !== '' || host?.toLowerCase() !== url.hostname) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname));
}

/** An amount of money. Bounded to the integers that a JSON number holds exactly. */
export const amount = z.int().min(0).max(Number.MAX_SAFE_INTEGER).meta({ description: 'An amount in micros.' });

/** A fake wallet. Its fields have the names of a real balance, plus what tests want to compare. */
export const sandboxUserSchema = z
  .object({
    userId: z.string(),
    balanceMicros: amount,
    reservedMicros: amount,
    availableMicros: amount,
    currency: z.string(),
    requests: z.int().meta({ description: 'The number of calls that used tokens since the wallet was made or reset.' }),
    tokens: z.int().meta({ description: 'The tokens of these calls.' }),
    spendCapMicros: amount.nullable(),
    suspended: z.boolean(),
    nextOutcome: z.string().nullable().meta({
      description:
        'The outcome that the next call of this user will play, once. If it is null, the model of the call decides.',
    }),
  })
  .meta({ id: 'SandboxUser' });
export const sandboxUserListSchema = z.object({
  users: z.array(sandboxUserSchema),
  next: nextPage('after'),
});
export const sandboxPageSchema = z.strictObject({
  after: z.string().max(256).default(''),
  limit: pageLimit(1_000),
});
export const sandboxUserParamsSchema = z.object({ appId, userId });
export const resetSandboxSchema = z
  .strictObject({
    balanceMicros: amount.optional(),
    spendCapMicros: amount.optional(),
    suspended: z.boolean().optional(),
  })
  .meta({ description: 'Fields that you leave out go back to their defaults: the grant, no cap, not suspended.' });
