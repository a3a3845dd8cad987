import { z } from 'zod';
import { moment } from './control.ts';
import { appId } from './identifiers.ts';

/** Tokens with which automated tests read and reset the test users of an app (SB-07). */
export const testTokenParamsSchema = z.object({ appId, testTokenId: z.string() });

/** A new test token. Its text is shown only here. */
export const madeTestTokenSchema = z
  .object({
    testTokenId: z.string(),
    testToken: z.string().meta({ description: 'The token, `svc_tester_...`. It is not shown again.' }),
  })
  .meta({ id: 'NewTestToken' });

/** The test tokens of an app, newest first. */
export const testTokensSchema = z
  .object({
    testTokens: z.array(
      z.object({
        testTokenId: z.string(),
        madeBy: z.string().meta({ description: 'The e-mail of the owner who made it.' }),
        createdAt: moment,
        lastUsedAt: moment
          .nullable()
          .meta({ description: 'When the token was last used, to the minute. It is null if it never was.' }),
      }),
    ),
  })
  .meta({ id: 'TestTokens' });
