import {
  appParamsSchema,
  resetSandboxSchema,
  sandboxPageSchema,
  sandboxUserListSchema,
  sandboxUserParamsSchema,
  sandboxUserSchema,
} from '@purser/contract/control.ts';
import { nextOutcomeSchema } from '@purser/contract/sandbox.ts';
import { type ControlPlane, ownApp } from '#http/control-plane/control-plane.ts';
import type { Plane } from '#http/planes.ts';
import { type Micros, micros, microsToWire } from '#kernel/micros.ts';
import type { SandboxWallet } from '#sandbox/sandbox-wallet.ts';

/** Routes for the fake wallets of an app's test users (SB-04 to SB-07). */
export function addSandboxRoutes(plane: Plane, control: ControlPlane): void {
  const { sandboxWallets: sandbox, currency } = control;

  plane.get(
    '/apps/:appId/sandbox',
    { schema: { params: appParamsSchema, querystring: sandboxPageSchema, response: { 200: sandboxUserListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { after, limit } = request.query;
      const wallets = await sandbox.list(appId, { after, most: limit });
      // A full page may be the last one; its `next` then leads to an empty page, which costs less than a count.
      const next = wallets.length === limit ? (wallets.at(-1)?.userId ?? null) : null;
      return { users: wallets.map((wallet) => toWire(wallet, currency)), next };
    },
  );

  plane.post(
    '/apps/:appId/sandbox/users/:userId/reset',
    { schema: { params: sandboxUserParamsSchema, body: resetSandboxSchema, response: { 200: sandboxUserSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { balanceMicros, spendCapMicros, suspended } = request.body;
      const reset = { balance: microsOf(balanceMicros), cap: microsOf(spendCapMicros), isSuspended: suspended };
      return toWire(await sandbox.reset(appId, request.params.userId, reset), currency);
    },
  );

  plane.put(
    '/apps/:appId/sandbox/users/:userId/next',
    { schema: { params: sandboxUserParamsSchema, body: nextOutcomeSchema, response: { 200: sandboxUserSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { outcome } = request.body;
      return toWire(await sandbox.setNext(appId, request.params.userId, outcome ?? undefined), currency);
    },
  );
}

/** A missing field stays missing: the reset then uses its default. */
function microsOf(amount: number | undefined): Micros | undefined {
  return amount === undefined ? undefined : micros(BigInt(amount));
}

/** A fake wallet, with the field names of a real one, so that tests can share code with production. */
function toWire(wallet: SandboxWallet, currency: string) {
  const { userId, balance, held, cap, isSuspended, requests, tokens, nextOutcome } = wallet;
  return {
    userId,
    balanceMicros: microsToWire(balance),
    reservedMicros: microsToWire(held),
    availableMicros: microsToWire(micros(balance - held)),
    currency,
    requests,
    tokens,
    spendCapMicros: cap === undefined ? null : microsToWire(cap),
    suspended: isSuspended,
    nextOutcome: nextOutcome ?? null,
  };
}
