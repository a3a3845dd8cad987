import { appParamsSchema } from '@purser/contract/control.ts';
import { madeTestTokenSchema, testTokenParamsSchema, testTokensSchema } from '@purser/contract/test-tokens.ts';
import { z } from 'zod';
import { type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const TOKENS = '/apps/:appId/sandbox/tokens';

/** Routes for the tokens with which automated tests reset test users (SB-07). */
export function addTestTokenRoutes(plane: Plane, control: ControlPlane): void {
  const { testTokens } = control;

  plane.post(
    TOKENS,
    { schema: { params: appParamsSchema, response: { 201: madeTestTokenSchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { testTokenId, text } = granted(await testTokens.make(ownerOf(control, request), appId));
      return reply.code(201).send({ testTokenId, testToken: text });
    },
  );

  plane.get(TOKENS, { schema: { params: appParamsSchema, response: { 200: testTokensSchema } } }, async (request) => {
    const { appId } = await ownApp(control, request, request.params.appId);
    return wireOf(testTokensSchema, { testTokens: await testTokens.list(appId) });
  });

  plane.delete(
    `${TOKENS}/:testTokenId`,
    { schema: { params: testTokenParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const isThere = await testTokens.revoke(ownerOf(control, request), appId, request.params.testTokenId);
      if (!isThere) granted(refuse('NOT_FOUND', 'This app has no such test token.'));
      return reply.code(204).send(null);
    },
  );
}
