import type { appId as appIdSchema } from '@purser/contract/identifiers.ts';
import type { z } from 'zod';
import { type ControlPlane, type OwnApp, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { addRoute, type Answer, type Asked, type Route, type RouteName } from '#http/planes/routes.ts';
import type { AppId } from '#kernel/values/ids.ts';

/** A route about an app, which its path names. */
type AppRoute = Route & { readonly params: z.ZodObject<{ readonly appId: typeof appIdSchema }> };

interface AskedOfApp<One extends AppRoute> extends Asked<One> {
  /** The caller, as the audit trail names them. */
  readonly by: ReturnType<typeof ownerOf>;
}

/** Adds routes of owners to the plane. */
export interface OwnerRoutes {
  /** A route of the caller's account, or of anybody if its configuration says so. */
  readonly add: <const One extends Route, Value>(
    name: RouteName,
    route: One,
    run: (asked: Asked<One>) => Answer<One, Value>,
  ) => void;
  /** A route of one of the caller's apps, in which they have the role that it needs. */
  readonly ofApp: <const One extends AppRoute, Value>(
    name: RouteName,
    route: One,
    run: (app: OwnApp, asked: AskedOfApp<One>) => Answer<One, Value>,
  ) => void;
}

export function ownerRoutes(plane: Plane, control: ControlPlane): OwnerRoutes {
  return {
    add: (name, route, run) => addRoute(plane, name, route, run),
    ofApp: (name, route, run) =>
      addRoute(plane, name, route, async (asked) => {
        const { request } = asked;
        const { appId } = request.params as { readonly appId: AppId };
        return run(await ownApp(control, request, appId), { ...asked, by: ownerOf(control, request) });
      }),
  };
}
