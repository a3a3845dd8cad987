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
export const pendingSignInSchema = z
  .object({
    signInToken: z.string(),
    expiresAt: moment,
    methods: z.array(z.enum(['authenticator', 'passkey', 'recovery_code'])).meta({
      description: 'The second factors that can finish the sign-in. A passkey works on the pages only.',
    }),
  })
  .meta({ id: 'PendingSignIn' });
/** What a route answers that opens a session, or asks for the second factor first. */
export const SIGN_IN_ANSWERS = { 200: signedInSchema, 202: pendingSignInSchema };

export const secondStepSchema = z.strictObject({ signInToken: z.string().max(TOKEN_LENGTH_MAX), code });
export const proofSchema = z.strictObject({
  password: z.string().max(PASSWORD_LENGTH_MAX),
  code: code.optional().meta({ description: 'A code of the second factor. It is required if the account has one.' }),
});

const usedAt = moment.nullable().meta({ description: 'When it was last used. It is null if it never was.' });
export const secondFactorSchema = z
  .object({
    authenticator: z.object({ createdAt: moment, lastUsedAt: usedAt }).nullable(),
    passkeys: z.array(z.object({ passkeyId: z.string(), createdAt: moment, lastUsedAt: usedAt })),
    recoveryCodesLeft: z.int(),
  })
  .meta({ id: 'SecondFactor' });
export const authenticatorOfferSchema = z
  .object({
    secret: z.string().meta({ description: 'The secret in base32, to type into an authenticator app.' }),
    otpauthUri: z.string().meta({ description: 'The same secret as an address, for a link or a QR code.' }),
    setupToken: z.string(),
  })
  .meta({ id: 'AuthenticatorOffer' });
export const addAuthenticatorSchema = z.strictObject({
  setupToken: z.string().max(TOKEN_LENGTH_MAX),
  code: z.string().max(CODE_LENGTH_MAX),
  enrolmentCode: z.string().max(CODE_LENGTH_MAX).optional().meta({
    description:
      'The code that was mailed to the operator, or printed for them. In production, operators need it for the first second factor of their account.',
  }),
});
export const authenticatorAddedSchema = z.object({
  recoveryCodes: z.array(z.string()).nullable().meta({
    description:
      'The recovery codes, which only this answer shows. They are null if the account already had a second factor; its codes stay.',
  }),
});
export const recoveryCodesSchema = z.object({
  recoveryCodes: z
    .array(z.string())
    .meta({ description: 'The recovery codes, which only this answer shows. Earlier codes stop working.' }),
});
export const passkeyParamsSchema = z.object({
  passkeyId: z.string().regex(/^[A-Za-z0-9_-]{1,1364}$/),
});
