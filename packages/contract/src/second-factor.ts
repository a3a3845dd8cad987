import { z } from 'zod';
import { moment, signedInSchema } from './control.ts';

/** Requests and answers about the e-mail and the second factor of an account (CP-06). */

const TOKEN_LENGTH_MAX = 256;
const CODE_LENGTH_MAX = 32;
const PASSWORD_LENGTH_MAX = 256;

/** The token from the mail that verifies an e-mail. */
export const verifyEmailSchema = z.strictObject({ token: z.string().max(TOKEN_LENGTH_MAX) });

const code = z
  .string()
  .max(CODE_LENGTH_MAX)
  .meta({
    description: 'The six digits of an authenticator app, or a recovery code. Each works once.',
    examples: ['123456'],
  });

/** The answer to a right password of an account with a second factor. The token opens nothing by itself. */
const pendingSignInSchema = z
  .object({
    signInToken: z.string(),
    expiresAt: moment,
    methods: z.array(z.enum(['authenticator', 'passkey', 'recovery_code'])).meta({
      description: 'What the account can be opened with. A passkey works on the pages only.',
    }),
  })
  .meta({ id: 'PendingSignIn' });
/** What a route answers that opens a session, or asks for the second factor first. */
export const SIGN_IN_ANSWERS = { 200: signedInSchema, 202: pendingSignInSchema };

export const secondStepSchema = z.strictObject({ signInToken: z.string().max(TOKEN_LENGTH_MAX), code });
export const proofSchema = z.strictObject({
  password: z.string().max(PASSWORD_LENGTH_MAX),
  code: code.optional().meta({ description: 'Required if the account has a second factor.' }),
});

const usedAt = moment.nullable().meta({ description: 'Null if it was never used.' });
export const secondFactorSchema = z
  .object({
    authenticator: z.object({ createdAt: moment, lastUsedAt: usedAt }).nullable(),
    passkeys: z.array(z.object({ passkeyId: z.string(), createdAt: moment, lastUsedAt: usedAt })),
    recoveryCodesLeft: z.int(),
  })
  .meta({ id: 'SecondFactor' });
export const authenticatorOfferSchema = z
  .object({
    secret: z.string().meta({ description: 'In base32, to type into an app.' }),
    otpauthUri: z.string().meta({ description: 'The same as an address, for a link or a QR code.' }),
    setupToken: z.string(),
  })
  .meta({ id: 'AuthenticatorOffer' });
export const addAuthenticatorSchema = z.strictObject({
  setupToken: z.string().max(TOKEN_LENGTH_MAX),
  code: z.string().max(CODE_LENGTH_MAX),
  enrolmentCode: z.string().max(CODE_LENGTH_MAX).optional().meta({
    description:
      'Operators need it for the first second factor of their account, in production. It was mailed or printed for them.',
  }),
});
export const authenticatorAddedSchema = z.object({
  recoveryCodes: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Shown this once. Null if the account had a second factor before: its codes stay.' }),
});
export const recoveryCodesSchema = z.object({
  recoveryCodes: z.array(z.string()).meta({ description: 'Shown this once. The codes before stop working.' }),
});
export const passkeyParamsSchema = z.object({
  passkeyId: z.string().regex(/^[A-Za-z0-9_-]{1,1364}$/),
});
