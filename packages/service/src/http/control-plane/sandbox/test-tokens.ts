import { appParamsSchema } from '@purser/contract/control.ts';
import { madeTestTokenSchema, testTokenParamsSchema, testTokensSchema } from '@purser/contract/test-tokens.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const TOKENS = '/apps/:appId/sandbox/tokens';

/** Routes for the tokens with which automated tests reset test users (SB-07). */
export function addTestTokenRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { testTokens } = control;

  routes.ofApp(
    `POST ${TOKENS}`,
    { params: appParamsSchema, answer: madeTestTokenSchema, status: 201 },
    async ({ appId }, { by }) => {
      const { testTokenId, text } = granted(await testTokens.make(by, appId));
      return { testTokenId, testToken: text };
    },
  );

  routes.ofApp(`GET ${TOKENS}`, { params: appParamsSchema, answer: testTokensSchema }, async ({ appId }) => ({
    testTokens: await testTokens.list(appId),
  }));

  routes.ofApp(
    `DELETE ${TOKENS}/:testTokenId`,
    { params: testTokenParamsSchema },
    async ({ appId }, { params, by }) => {
      const isThere = await testTokens.revoke(by, appId, params.testTokenId);
      return isThere ? undefined : refuse('NOT_FOUND', 'This app has no such test token.');
    },
  );
}
