import { resetSandboxSchema } from '@purser/contract/control.ts';
import { nextOutcomeSchema } from '@purser/contract/sandbox.ts';
import type { z } from 'zod';
import { admitForUser, type DataPlane } from '#http/data-plane/data-plane.ts';
import { parseExactBody } from '#http/json-body.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/respond.ts';
import { resetOf, sandboxUserToWire } from '#http/sandbox-user-to-wire.ts';
import { readBySchema } from '#http/schema-compilers.ts';
import { Refusal } from '#kernel/refusal.ts';
import type { SandboxActor, TestUser } from '#sandbox/sandbox-trail.ts';
import type { SandboxWallet } from '#sandbox/sandbox-wallet.ts';

/** What an automated test does to a test user of its app. */
interface TesterCall {
  readonly by: SandboxActor;
  readonly user: TestUser;
  readonly body: Buffer;
}

type Act = (call: TesterCall) => Promise<SandboxWallet | Refusal>;

/**
 * Lets a key that may reset test users act on one of its app: the user that `x-service-user` names (SB-07, decision 19). A key that
 * makes calls is refused, and so is a live one.
 */
async function handle(plane: DataPlane, exchange: Exchange, act: Act): Promise<void> {
  const admitted = await admitForUser(plane, exchange, 'resets');
  if (admitted instanceof Refusal) return sendRefusal(exchange, admitted);
  const { caller, userId, body } = admitted;
  const { appId, accountId } = caller.app;
  const by = { keyId: caller.keyId, accountId, from: plane.gateway.addressOf(exchange.request) };
  const wallet = await act({ by, user: { appId, userId }, body });
  if (wallet instanceof Refusal) return sendRefusal(exchange, wallet);
  sendJson(exchange.response, 200, sandboxUserToWire(wallet, plane.currency));
}

/** `GET /sandbox/balance` returns what the next call of this user finds. It writes nothing. */
export function handleSandboxBalance(plane: DataPlane, exchange: Exchange): Promise<void> {
  return handle(plane, exchange, ({ user }) => plane.sandboxWallets.foundByCall(user.appId, user.userId));
}

/** `POST /sandbox/reset` works as the route of the app's members, body and all (SB-05). */
export function handleSandboxReset(plane: DataPlane, exchange: Exchange): Promise<void> {
  return handle(plane, exchange, async ({ by, user, body }) => {
    const reset = body.length === 0 ? {} : read(resetSandboxSchema, body);
    return reset instanceof Refusal ? reset : plane.sandboxWallets.reset(by, user, resetOf(reset));
  });
}

/** `PUT /sandbox/next` sets what this user's next call plays, once. */
export function handleSandboxNext(plane: DataPlane, exchange: Exchange): Promise<void> {
  return handle(plane, exchange, async ({ by, user, body }) => {
    const next = read(nextOutcomeSchema, body);
    return next instanceof Refusal ? next : plane.sandboxWallets.setNext(by, user, next.outcome ?? undefined);
  });
}

function read<Schema extends z.ZodType>(schema: Schema, bytes: Buffer): z.output<Schema> | Refusal<'BAD_REQUEST'> {
  const body = parseExactBody(bytes);
  return body instanceof Refusal ? body : readBySchema(schema, body);
}
