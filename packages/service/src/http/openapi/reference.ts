import type { FastifyInstance } from 'fastify';
import type { DescribedRoute } from '#http/openapi/described-route.ts';
import { describeRoutes } from '#http/openapi/document.ts';
import { FIXED_ROUTES, SERVICE_ROUTES } from '#http/openapi/fixed-routes.ts';
import type { OpenApiDocument } from '#http/openapi/open-api.ts';
import { referencePage } from '#http/reference/reference-page.ts';
import { REFERENCE_STYLE } from '#http/reference/style.ts';
import { sha256 } from '#kernel/crypto.ts';

/** The document of the whole API: the routes of the planes, and those that `server.ts` answers itself. */
function describeApi(planeRoutes: readonly DescribedRoute[], publicUrl: string): OpenApiDocument {
  return describeRoutes([...FIXED_ROUTES, ...planeRoutes, ...SERVICE_ROUTES], publicUrl);
}

/** The page may load nothing, run nothing, and not be framed. Its only style is allowed by its hash. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${sha256(REFERENCE_STYLE).toString('base64')}'; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Adds `GET /openapi.json` and the same for people, `GET /docs`. Each is built once, at its first request. */
export function addReference(plane: FastifyInstance, planeRoutes: readonly DescribedRoute[], publicUrl: string): void {
  let json: string | undefined;
  let page: string | undefined;
  plane.get('/openapi.json', { config: { isPublic: true } }, (_request, reply) => {
    json ??= JSON.stringify(describeApi(planeRoutes, publicUrl));
    return reply.type('application/json; charset=utf-8').send(json);
  });
  plane.get('/docs', { config: { isPublic: true } }, (_request, reply) => {
    page ??= referencePage(describeApi(planeRoutes, publicUrl)).text;
    return reply.headers(PAGE_HEADERS).send(page);
  });
}
