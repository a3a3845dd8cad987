import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { codingOf, type Coding, compress } from '#http/answers/compress.ts';
import type { DescribedRoute } from '#http/openapi/described-route.ts';
import { describeRoutes } from '#http/openapi/document.ts';
import { FIXED_ROUTES, SERVICE_ROUTES } from '#http/openapi/fixed-routes.ts';
import type { OpenApiDocument } from '#http/openapi/open-api.ts';
import { referencePage } from '#http/reference/reference-page.ts';
import { REFERENCE_STYLE } from '#http/reference/style.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';

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

/**
 * Adds `GET /openapi.json` and the same for people, `GET /docs`. Each is built and compressed once, at its first request. They are the
 * same for everybody, so their length tells nobody anything.
 */
export function addReference(plane: FastifyInstance, planeRoutes: readonly DescribedRoute[], publicUrl: string): void {
  const json = keep(() => JSON.stringify(describeApi(planeRoutes, publicUrl)));
  const page = keep(() => referencePage(describeApi(planeRoutes, publicUrl)).text);
  const open = { config: { isPublic: true } };
  plane.get('/openapi.json', open, (request, reply) =>
    sendKept(request, reply.type('application/json; charset=utf-8'), json),
  );
  plane.get('/docs', open, (request, reply) => sendKept(request, reply.headers(PAGE_HEADERS), page));
}

/** A text that is made once, and its compressed forms. */
function keep(make: () => string): (coding: Coding | undefined) => Promise<string | Buffer> | string {
  let text: string | undefined;
  const forms = new Map<Coding, Promise<Buffer>>();
  return (coding) => {
    text ??= make();
    if (coding === undefined) return text;
    const form = forms.get(coding) ?? compress(text, coding, 'once');
    forms.set(coding, form);
    return form;
  };
}

async function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  kept: ReturnType<typeof keep>,
): Promise<FastifyReply> {
  const coding = codingOf(request.headers['accept-encoding']);
  if (coding !== undefined) reply.header('content-encoding', coding);
  return reply.header('vary', 'accept-encoding').send(await kept(coding));
}
