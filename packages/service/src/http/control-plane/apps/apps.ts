import { appListSchema, appParamsSchema, appSchema, changeAppSchema, newAppSchema } from '@purser/contract/control.ts';
import { type ControlPlane, callerOf, noSuchApp, type OwnApp, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';

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

/** An app as its members see it, without the limits and rights that operators set. */
export function appToWire({ appId, name, redirectUris, returnUri, status, role, createdAtMs }: OwnApp) {
  return { appId, name, redirectUris: [...redirectUris], returnUri, status, role, createdAt: isoOf(createdAtMs) };
}
