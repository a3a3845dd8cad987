import {
  appListSchema,
  appParamsSchema,
  appSchema,
  changeAppSchema,
  keyListSchema,
  keyParamsSchema,
  mintedKeySchema,
  newAppSchema,
  newKeySchema,
} from '@purser/contract/control.ts';
import { z } from 'zod';
import type { ApiKey } from '#accounts/app.ts';
import {
  type ControlPlane,
  callerOf,
  noSuchApp,
  type OwnApp,
  ownApp,
  ownerOf,
} from '#http/control-plane/control-plane.ts';
import { granted, type Plane } from '#http/planes.ts';
import { isoOf } from '#kernel/clock.ts';
import { refuse } from '#kernel/refusal.ts';

/** Routes for an account's apps (CP-02). */
export function addAppRoutes(plane: Plane, control: ControlPlane): void {
  const { apps } = control;

  plane.post('/apps', { schema: { body: newAppSchema, response: { 201: appSchema } } }, async (request, reply) => {
    const app = granted(await apps.create(ownerOf(control, request), request.body));
    return reply.code(201).send(appToWire({ ...app, role: 'owner' }));
  });

  plane.get('/apps', { schema: { response: { 200: appListSchema } } }, async (request) => {
    const { account } = callerOf(request);
    return { apps: (await apps.list(account.accountId)).map(({ app, role }) => appToWire({ ...app, role })) };
  });

  plane.get('/apps/:appId', { schema: { params: appParamsSchema, response: { 200: appSchema } } }, async (request) =>
    appToWire(await ownApp(control, request, request.params.appId)),
  );

  plane.patch(
    '/apps/:appId',
    { schema: { params: appParamsSchema, body: changeAppSchema, response: { 200: appSchema } } },
    async (request) => {
      const { name, redirectUris, returnUri } = request.body;
      const { appId, role } = await ownApp(control, request, request.params.appId);
      const app = await apps.change(ownerOf(control, request), appId, { name, redirectUris, returnUri });
      return appToWire({ ...granted(app ?? noSuchApp()), role });
    },
  );
}

/** Routes for an app's API keys (CP-03). A key is shown only in the answer that makes it; the database has its digest. */
export function addKeyRoutes(plane: Plane, control: ControlPlane): void {
  const { apps } = control;

  plane.post(
    '/apps/:appId/keys',
    { schema: { params: appParamsSchema, body: newKeySchema, response: { 201: mintedKeySchema } } },
    async (request, reply) => {
      const { mode, userId, joinSeconds } = request.body;
      const { appId } = await ownApp(control, request, request.params.appId, mode);
      const options = { mode, boundUser: userId, joinSeconds };
      const minted = granted(await apps.mintKey(ownerOf(control, request), appId, options));
      return reply.code(201).send({ appId, ...minted, mode, userId, joinSeconds });
    },
  );

  plane.get(
    '/apps/:appId/keys',
    { schema: { params: appParamsSchema, response: { 200: keyListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      return { keys: (await apps.listKeys(appId)).map(keyToWire) };
    },
  );

  plane.delete(
    '/apps/:appId/keys/:keyId',
    { schema: { params: keyParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const mode = await apps.modeOfKey(request.params.appId, request.params.keyId);
      const { appId } = await ownApp(control, request, request.params.appId, mode);
      const isThere = await apps.revokeKey(ownerOf(control, request), appId, request.params.keyId);
      if (!isThere) granted(refuse('NOT_FOUND', 'This app has no such key.'));
      return reply.code(204).send(null);
    },
  );
}

/** An app as its members see it, without the limits and rights that operators set. */
function appToWire({ appId, name, redirectUris, returnUri, status, role, createdAtMs }: OwnApp) {
  return { appId, name, redirectUris: [...redirectUris], returnUri, status, role, createdAt: isoOf(createdAtMs) };
}

/** A key in a list: its hint, never the key, and its options, if it has any. A revoked key stays in the list, with the time of its revocation. */
function keyToWire({ keyId, mode, hint, boundUser, joinSeconds, createdAtMs, lastUsedAtMs, revokedAtMs }: ApiKey) {
  return {
    keyId,
    mode,
    hint,
    userId: boundUser,
    joinSeconds,
    createdAt: isoOf(createdAtMs),
    lastUsedAt: lastUsedAtMs === undefined ? null : isoOf(lastUsedAtMs),
    revokedAt: revokedAtMs === undefined ? null : isoOf(revokedAtMs),
  };
}
