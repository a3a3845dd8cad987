import { appParamsSchema, logoSchema, putLogoSchema } from '@purser/contract/control.ts';
import { z } from 'zod';
import { readLogo } from '#developers/apps/logo.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const OF_APP = '/apps/:appId/logo';
const DIGEST = /^[0-9a-f]{64}$/;
const logoParams = z.object({ digest: z.string() });

/**
 * An owner uploads these bytes, and they are served from our origin. So a browser that opens them directly must not take
 * them for anything but a picture, and must run nothing in them. The address names the content, so caches keep it for good.
 */
const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'public, max-age=31536000, immutable',
};

/** Routes that set an app's picture, and the address where pages load it. */
export function addLogoRoutes(plane: Plane, control: ControlPlane): void {
  const { logos, publicUrl } = control;

  const routes = ownerRoutes(plane, control);
  routes.ofApp(
    `PUT ${OF_APP}`,
    { params: appParamsSchema, body: putLogoSchema, answer: logoSchema },
    async ({ appId }, { body, by }) => {
      const logo = granted(readLogo(body.image));
      // A new picture has a new address, because the old one is cached for a year.
      return { logoUrl: `${publicUrl}/logos/${await logos.set(by, appId, logo)}` };
    },
  );

  routes.ofApp(`DELETE ${OF_APP}`, { params: appParamsSchema }, ({ appId }, { by }) => logos.remove(by, appId));

  plane.get(
    '/logos/:digest',
    { config: { isPublic: true }, schema: { params: logoParams } },
    async (request, reply) => {
      const { digest } = request.params;
      const found = DIGEST.test(digest) ? await logos.find(digest) : undefined;
      const { type, image } = granted(found ?? refuse('NOT_FOUND', 'There is no such picture.'));
      return reply.headers({ ...HEADERS, 'content-type': type }).send(image);
    },
  );
}
