import { appListSchema, appParamsSchema, appSchema, changeAppSchema, newAppSchema } from '@purser/contract/control.ts';
import { type ControlPlane, callerOf, noSuchApp, ownerOf } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';

/** Routes for an account's apps (CP-02). */
export function addAppRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { apps } = control;

  routes.add('POST /apps', { body: newAppSchema, answer: appSchema, status: 201 }, async ({ body, request }) => {
    const app = granted(await apps.create(ownerOf(control, request), body));
    return { ...app, role: 'owner' as const };
  });

  routes.add('GET /apps', { answer: appListSchema }, async ({ request }) => {
    const all = await apps.list(callerOf(request).account.accountId);
    return { apps: all.map(({ app, role }) => ({ ...app, role })) };
  });

  routes.ofApp('GET /apps/:appId', { params: appParamsSchema, answer: appSchema }, async (app) => app);

  routes.ofApp(
    'PATCH /apps/:appId',
    { params: appParamsSchema, body: changeAppSchema, answer: appSchema },
    async ({ appId, role }, { body: { name, redirectUris, returnUri }, by }) => {
      const app = await apps.change(by, appId, { name, redirectUris, returnUri });
      return { ...granted(app ?? noSuchApp()), role };
    },
  );
}
