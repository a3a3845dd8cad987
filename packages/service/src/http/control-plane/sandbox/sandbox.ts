import {
  appParamsSchema,
  resetSandboxSchema,
  sandboxPageSchema,
  sandboxUserListSchema,
  sandboxUserParamsSchema,
  sandboxUserSchema,
} from '@purser/contract/control.ts';
import { nextOutcomeSchema } from '@purser/contract/sandbox.ts';
import { type ControlPlane, ownTests } from '#http/planes/control-plane.ts';
import { addTestTokenRoutes } from '#http/control-plane/sandbox/test-tokens.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import type { Plane } from '#http/planes/planes.ts';
import { sentAmount } from '#http/requests/sent.ts';
import { micros } from '#kernel/values/micros.ts';
import type { SandboxWallet } from '#sandbox/wallets/sandbox-wallets.ts';

/** These routes are also open for a test token, which opens nothing else (SB-07). */
const FOR_TESTS = { isForTests: true };

/** Routes for the fake wallets of an app's test users (SB-04 to SB-07). */
export function addSandboxRoutes(plane: Plane, control: ControlPlane): void {
  const { sandboxWallets: sandbox, currency } = control;

  const routes = ownerRoutes(plane, control);
  routes.add(
    'GET /apps/:appId/sandbox',
    { config: FOR_TESTS, params: appParamsSchema, query: sandboxPageSchema, answer: sandboxUserListSchema },
    async ({ request, params, query: { after, limit } }) => {
      const { appId } = await ownTests(control, request, params.appId);
      const wallets = await sandbox.list(appId, { after, most: limit });
      // A full page may be the last one; its `next` then leads to an empty page, which costs less than a count.
      const next = wallets.length === limit ? wallets.at(-1)?.userId : undefined;
      return { users: wallets.map((wallet) => shownUser(wallet, currency)), next };
    },
  );

  routes.add(
    'POST /apps/:appId/sandbox/users/:userId/reset',
    { config: FOR_TESTS, params: sandboxUserParamsSchema, body: resetSandboxSchema, answer: sandboxUserSchema },
    async ({ request, params, body: { balanceMicros, spendCapMicros, suspended } }) => {
      const { appId, by } = await ownTests(control, request, params.appId);
      // A missing field stays missing: the reset then uses its default (SB-05).
      const wanted = { balance: sentAmount(balanceMicros), cap: sentAmount(spendCapMicros), isSuspended: suspended };
      return shownUser(await sandbox.reset(by, { appId, userId: params.userId }, wanted), currency);
    },
  );

  routes.ofApp(
    'PUT /apps/:appId/sandbox/users/:userId/next',
    { params: sandboxUserParamsSchema, body: nextOutcomeSchema, answer: sandboxUserSchema },
    async ({ appId }, { params: { userId }, body: { outcome }, by }) =>
      shownUser(await sandbox.setNext(by, { appId, userId }, outcome ?? undefined), currency),
  );

  addTestTokenRoutes(plane, control);
}

/** A fake wallet, with the field names of a real one, so that tests can share code with production. */
function shownUser(wallet: SandboxWallet, currency: string) {
  const { held: reserved, cap: spendCap } = wallet;
  return { ...wallet, reserved, available: micros(wallet.balance - reserved), currency, spendCap };
}
