import { appListSchema, appParamsSchema, appSchema, changeAppSchema, newAppSchema } from '@purser/contract/control.ts';
import type { App } from '#accounts/app.ts';
import { type ControlPlane, callerOf, noSuchApp, ownApp, ownerOf } from '#http/control-plane/control-plane.ts';
import { granted, type Plane } from '#http/planes.ts';
import { isoOf } from '#kernel/clock.ts';

/** Routes for an account's apps (CP-02). */
export function addAppRoutes(plane: Plane, control: ControlPlane): void {
  const { apps } = control;

  plane.post('/apps', { schema: { body: newAppSchema, response: { 201: appSchema } } }, async (request, reply) => {
    const app = granted(await apps.create(ownerOf(control, request), request.body));
    return reply.code(201).send(appToWire(app));
  });

  plane.get('/apps', { schema: { response: { 200: appListSchema } } }, async (request) => {
    const { account } = callerOf(request);
    return { apps: (await apps.list(account.accountId)).map(appToWire) };
  });

  plane.get('/apps/:appId', { schema: { params: appParamsSchema, response: { 200: appSchema } } }, async (request) =>
    appToWire(await ownApp(control, request, request.params.appId)),
  );

  plane.patch(
    '/apps/:appId',
    { schema: { params: appParamsSchema, body: changeAppSchema, response: { 200: appSchema } } },
    async (request) => {
      const { name, redirectUris, returnUri } = request.body;
      const owner = ownerOf(control, request);
      const app = await apps.change(owner, request.params.appId, { name, redirectUris, returnUri });
      return appToWire(granted(app ?? noSuchApp()));
    },
  );
}

/** An app as its owner sees it, without the limits and rights that operators set. */
function appToWire({ appId, name, redirectUris, returnUri, status, createdAtMs }: App) {
  return { appId, name, redirectUris: [...redirectUris], returnUri, status, createdAt: isoOf(createdAtMs) };
}
