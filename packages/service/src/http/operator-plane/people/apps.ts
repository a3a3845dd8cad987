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
import { confirmEverywhere } from '#http/planes/confirm-everywhere.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { AppDetails } from '#operator/people/apps.ts';

/** Routes for all apps: rights, limits, suspension (CP-05). */
export function addAnyAppRoutes(plane: Plane, operator: OperatorPlane): void {
  const { apps, whenEverywhere } = operator;
  plane.get(
    '/operator/apps',
    { schema: { querystring: appQuerySchema, response: { 200: anyAppListSchema } } },
    async ({ query }) => ({ apps: (await apps.search(query.query)).map(toWire) }),
  );

  plane.get(
    '/operator/apps/:appId',
    { schema: { params: appParamsSchema, response: { 200: anyAppDetailsSchema } } },
    async ({ params: { appId } }) => {
      const app = granted((await apps.find(appId)) ?? refuse('NOT_FOUND', 'There is no such app.'));
      const [{ members }, keys] = await Promise.all([operator.teams.list(appId), operator.listKeys(appId)]);
      return {
        app: toWire(app),
        members: members.map(({ accountId, email, role, sinceMs }) => ({
          accountId,
          email,
          role,
          since: isoOf(sinceMs),
        })),
        keys: keys.map(keyToWire),
      };
    },
  );

  plane.patch(
    '/operator/apps/:appId',
    {
      schema: { params: appParamsSchema, body: changeAnyAppSchema, response: { 200: anyAppSchema } },
    },
    async (request, reply) => {
      const { firstParty, rateLimit, maxStreamsPerUser, reason } = request.body;
      const settings = {
        isFirstParty: firstParty,
        ratePerMinute: rateLimit?.perMinute,
        rateBurst: rateLimit?.burst,
        maxStreamsPerUser,
      };
      const app = granted(await apps.change(actOf(operator, request, reason), request.params.appId, settings));
      await confirmEverywhere(whenEverywhere, reply);
      return toWire(app);
    },
  );

  for (const act of ['suspend', 'resume'] as const) {
    plane.post(
      `/operator/apps/:appId/${act}`,
      {
        schema: { params: appParamsSchema, body: reasonSchema, response: { 200: anyAppSchema } },
      },
      async (request, reply) => {
        const app = granted(await apps[act](actOf(operator, request, request.body.reason), request.params.appId));
        await confirmEverywhere(whenEverywhere, reply);
        return toWire(app);
      },
    );
  }
}

function momentOf(epochMs: number | null | undefined): string | null {
  return epochMs === undefined || epochMs === null ? null : isoOf(epochMs);
}

/** A key without its limits, which are its owner's to look after. */
export function keyToWire({ keyId, mode, hint, settings, ...key }: ApiKey) {
  return {
    keyId,
    mode,
    hint,
    name: settings.name,
    createdAt: isoOf(key.createdAtMs),
    lastUsedAt: momentOf(key.lastUsedAtMs),
    expiresAt: momentOf(settings.expiresAtMs),
    revokedAt: momentOf(key.revokedAtMs),
  };
}

/** An app on the wire. `limits` are those in force, so that an operator need not know the defaults. */
function toWire({ isFirstParty, limits, createdAtMs, redirectUris, ownerEmails, ...app }: AppDetails) {
  return {
    ...app,
    redirectUris: [...redirectUris],
    ownerEmails: [...ownerEmails],
    firstParty: isFirstParty,
    rateLimit: { perMinute: limits.ratePerMinute, burst: limits.rateBurst },
    maxStreamsPerUser: limits.maxStreamsPerUser,
    createdAt: isoOf(createdAtMs),
  };
}
