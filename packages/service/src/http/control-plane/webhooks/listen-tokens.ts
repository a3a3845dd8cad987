import { appParamsSchema } from '@purser/contract/control.ts';
import { listenTokenParamsSchema, listenTokensSchema, madeListenTokenSchema } from '@purser/contract/webhooks.ts';
import { z } from 'zod';
import { callerOf, type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
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
      const { listenTokenId, text, expiresAtMs } = made;
      return reply.code(201).send({ listenTokenId, listenToken: text, expiresAt: isoOf(expiresAtMs) });
    },
  );

  plane.get(TOKENS, { schema: { params: appParamsSchema, response: { 200: listenTokensSchema } } }, async (request) => {
    const { appId } = await ownApp(control, request, request.params.appId);
    const tokens = await listenTokens.list(appId);
    return {
      listenTokens: tokens.map(({ listenTokenId, madeBy, createdAtMs, expiresAtMs, lastUsedAtMs }) => ({
        listenTokenId,
        madeBy,
        createdAt: isoOf(createdAtMs),
        expiresAt: isoOf(expiresAtMs),
        lastUsedAt: lastUsedAtMs === undefined ? null : isoOf(lastUsedAtMs),
      })),
    };
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
