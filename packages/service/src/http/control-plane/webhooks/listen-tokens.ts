import { appParamsSchema } from '@purser/contract/control.ts';
import { listenTokenParamsSchema, listenTokensSchema, madeListenTokenSchema } from '@purser/contract/webhooks.ts';
import { z } from 'zod';
import { callerOf, type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const TOKENS = '/apps/:appId/webhook/listen-tokens';

/** Routes for the tokens of `purser listen` (decision 20). */
export function addListenTokenRoutes(plane: Plane, control: ControlPlane): void {
  const { listenTokens } = control;

  plane.post(
    TOKENS,
    { schema: { params: appParamsSchema, response: { 201: madeListenTokenSchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const made = granted(await listenTokens.make(ownerOf(control, request), callerOf(request), appId));
      return reply.code(201).send(wireOf(madeListenTokenSchema, { ...made, listenToken: made.text }));
    },
  );

  plane.get(TOKENS, { schema: { params: appParamsSchema, response: { 200: listenTokensSchema } } }, async (request) => {
    const { appId } = await ownApp(control, request, request.params.appId);
    return wireOf(listenTokensSchema, { listenTokens: await listenTokens.list(appId) });
  });

  plane.delete(
    `${TOKENS}/:listenTokenId`,
    { schema: { params: listenTokenParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const isThere = await listenTokens.revoke(ownerOf(control, request), appId, request.params.listenTokenId);
      if (!isThere) granted(refuse('NOT_FOUND', 'This app has no such listen token.'));
      return reply.code(204).send(null);
    },
  );
}
