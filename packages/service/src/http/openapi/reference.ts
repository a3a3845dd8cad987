import { describeRoutes, type DescribedRoute, type OpenApiDocument } from '#http/openapi/document.ts';
import { FIXED_ROUTES, SERVICE_ROUTES } from '#http/openapi/fixed-routes.ts';
import type { Plane } from '#http/planes.ts';

/** The document of the whole API: routes of the planes, and those that `server.ts` answers itself. */
export function describeApi(planeRoutes: readonly DescribedRoute[]): OpenApiDocument {
  return describeRoutes([...FIXED_ROUTES, ...planeRoutes, ...SERVICE_ROUTES]);
}

/** `GET /openapi.json`. */
export function addReference(plane: Plane, document: OpenApiDocument): void {
  const json = JSON.stringify(document);
  plane.get('/openapi.json', { config: { isPublic: true } }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(json),
  );
}
