import {
  appParamsSchema,
  resetSandboxSchema,
  sandboxPageSchema,
  sandboxUserListSchema,
  sandboxUserParamsSchema,
  sandboxUserSchema,
} from '@purser/contract/control.ts';
import { nextOutcomeSchema } from '@purser/contract/sandbox.ts';
import { type ControlPlane, ownApp, ownerOf, ownTests } from '#http/planes/control-plane.ts';
import { addTestTokenRoutes } from '#http/control-plane/sandbox/test-tokens.ts';
import type { Plane } from '#http/planes/planes.ts';
import { resetOf, sandboxUserToWire } from '#http/control-plane/sandbox/user-to-wire.ts';

/** These routes are also open for a test token, which opens nothing else (SB-07). */
const FOR_TESTS = { isForTests: true };

/** Routes for the fake wallets of an app's test users (SB-04 to SB-07). */
export function addSandboxRoutes(plane: Plane, control: ControlPlane): void {
  const { sandboxWallets: sandbox, currency } = control;

  plane.get(
    '/apps/:appId/sandbox',
    {
      config: FOR_TESTS,
      schema: { params: appParamsSchema, querystring: sandboxPageSchema, response: { 200: sandboxUserListSchema } },
    },
    async (request) => {
      const { appId } = await ownTests(control, request, request.params.appId);
      const { after, limit } = request.query;
      const wallets = await sandbox.list(appId, { after, most: limit });
      // A full page may be the last one; its `next` then leads to an empty page, which costs less than a count.
      const next = wallets.length === limit ? (wallets.at(-1)?.userId ?? null) : null;
      return { users: wallets.map((wallet) => sandboxUserToWire(wallet, currency)), next };
    },
  );

  plane.post(
    '/apps/:appId/sandbox/users/:userId/reset',
    {
      config: FOR_TESTS,
      schema: { params: sandboxUserParamsSchema, body: resetSandboxSchema, response: { 200: sandboxUserSchema } },
    },
    async (request) => {
      const { appId, by } = await ownTests(control, request, request.params.appId);
      const user = { appId, userId: request.params.userId };
      const wallet = await sandbox.reset(by, user, resetOf(request.body));
      return sandboxUserToWire(wallet, currency);
    },
  );

  plane.put(
    '/apps/:appId/sandbox/users/:userId/next',
    { schema: { params: sandboxUserParamsSchema, body: nextOutcomeSchema, response: { 200: sandboxUserSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const user = { appId, userId: request.params.userId };
      const wallet = await sandbox.setNext(ownerOf(control, request), user, request.body.outcome ?? undefined);
      return sandboxUserToWire(wallet, currency);
    },
  );

  addTestTokenRoutes(plane, control);
}
