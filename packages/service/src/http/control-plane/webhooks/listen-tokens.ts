import { appParamsSchema } from '@purser/contract/control.ts';
import { listenTokenParamsSchema, listenTokensSchema, madeListenTokenSchema } from '@purser/contract/webhooks.ts';
import { callerOf, type ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const TOKENS = '/apps/:appId/webhook/listen-tokens';

/** Routes for the tokens of `purser listen` (decision 20). */
export function addListenTokenRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { listenTokens } = control;

  routes.ofApp(
    `POST ${TOKENS}`,
    { params: appParamsSchema, answer: madeListenTokenSchema, status: 201 },
    async ({ appId }, { request, by }) => {
      const made = granted(await listenTokens.make(by, callerOf(request), appId));
      return { ...made, listenToken: made.text };
    },
  );

  routes.ofApp(`GET ${TOKENS}`, { params: appParamsSchema, answer: listenTokensSchema }, async ({ appId }) => ({
    listenTokens: await listenTokens.list(appId),
  }));

  routes.ofApp(
    `DELETE ${TOKENS}/:listenTokenId`,
    { params: listenTokenParamsSchema },
    async ({ appId }, { params, by }) => {
      const isThere = await listenTokens.revoke(by, appId, params.listenTokenId);
      return isThere ? undefined : refuse('NOT_FOUND', 'This app has no such listen token.');
    },
  );
}
