import { appParamsSchema } from '@purser/contract/control.ts';
import { anyAppDetailsSchema } from '@purser/contract/operator-app.ts';
import {
  anyAppListSchema,
  anyAppSchema,
  appQuerySchema,
  changeAnyAppSchema,
  reasonSchema,
} from '@purser/contract/operator.ts';
import type { ApiKey } from '#developers/keys/api-key.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { confirmEverywhere } from '#http/planes/confirm-everywhere.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { AppDetails } from '#operator/people/apps.ts';

/** Routes for all apps: rights, limits, suspension (CP-05). */
export function addAnyAppRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { apps, whenEverywhere } = operator;

  routes.show('/operator/apps', { query: appQuerySchema, answer: anyAppListSchema }, async ({ query }) => ({
    apps: (await apps.search(query.query)).map(shownApp),
  }));

  routes.show(
    '/operator/apps/:appId',
    { params: appParamsSchema, answer: anyAppDetailsSchema },
    async ({ params: { appId } }) => {
      const app = granted((await apps.find(appId)) ?? refuse('NOT_FOUND', 'There is no such app.'));
      const [{ members }, keys] = await Promise.all([operator.teams.list(appId), operator.listKeys(appId)]);
      return { app: shownApp(app), members, keys: keys.map(shownKey) };
    },
  );

  routes.act(
    'PATCH /operator/apps/:appId',
    { params: appParamsSchema, body: changeAnyAppSchema, answer: anyAppSchema },
    async (act, { params, body: { firstParty, rateLimit, maxStreamsPerUser }, reply }) => {
      const { perMinute: ratePerMinute, burst: rateBurst } = rateLimit ?? {};
      const settings = { isFirstParty: firstParty, ratePerMinute, rateBurst, maxStreamsPerUser };
      const app = granted(await apps.change(act, params.appId, settings));
      await confirmEverywhere(whenEverywhere, reply);
      return shownApp(app);
    },
  );

  for (const change of ['suspend', 'resume'] as const) {
    routes.act(
      `POST /operator/apps/:appId/${change}`,
      { params: appParamsSchema, body: reasonSchema, answer: anyAppSchema },
      async (act, { params, reply }) => {
        const app = granted(await apps[change](act, params.appId));
        await confirmEverywhere(whenEverywhere, reply);
        return shownApp(app);
      },
    );
  }
}

/** A key without its limits, which are its owner's to look after. */
export function shownKey({ settings: { name, expiresAtMs }, ...key }: ApiKey) {
  return { ...key, name, expiresAtMs };
}

/** An app with the limits in force, so that an operator need not know the defaults. */
function shownApp({ limits: { ratePerMinute, rateBurst, maxStreamsPerUser }, ...app }: AppDetails) {
  return { ...app, rateLimit: { perMinute: ratePerMinute, burst: rateBurst }, maxStreamsPerUser };
}
