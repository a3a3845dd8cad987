import { APP_ROUTES } from '@purser/contract/operator-app.ts';
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
  const add = routes(APP_ROUTES);

  add('GET /operator/apps', async ({ query }) => ({
    apps: (await apps.search(query.query)).map(shownApp),
  }));

  add('GET /operator/apps/{appId}', async ({ params: { appId } }) => {
    const app = granted((await apps.find(appId)) ?? refuse('NOT_FOUND', 'There is no such app.'));
    const [{ members }, keys] = await Promise.all([operator.teams.list(appId), operator.listKeys(appId)]);
    return { app: shownApp(app), members, keys: keys.map(shownKey) };
  });

  add(
    'PATCH /operator/apps/{appId}',
    async ({ act, params, body: { firstParty, rateLimit, maxStreamsPerUser }, reply }) => {
      const { perMinute: ratePerMinute, burst: rateBurst } = rateLimit ?? {};
      const settings = { isFirstParty: firstParty, ratePerMinute, rateBurst, maxStreamsPerUser };
      const app = granted(await apps.change(act, params.appId, settings));
      await confirmEverywhere(whenEverywhere, reply);
      return shownApp(app);
    },
  );

  for (const change of ['suspend', 'resume'] as const) {
    add(`POST /operator/apps/{appId}/${change}`, async ({ act, params, reply }) => {
      const app = granted(await apps[change](act, params.appId));
      await confirmEverywhere(whenEverywhere, reply);
      return shownApp(app);
    });
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
