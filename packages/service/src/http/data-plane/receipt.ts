import { admitForUser, type DataPlane } from '#http/data-plane/data-plane.ts';
import { receiptToWire } from '#http/serializers/call-to-wire.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { type AppId, type EndUserId, parseCallId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { CallReceipt } from '#calls/usage/report.ts';

/**
 * `GET /calls/{callId}` returns the receipt of one call of this user. A call of another app or user, one that still
 * runs and an unknown one get the same 404. So does every call with a test key, because play money has no receipts
 * (SB-03).
 */
export async function handleReceipt(plane: DataPlane, exchange: Exchange, name: string): Promise<void> {
  const admitted = await admitForUser(plane, exchange);
  if (admitted instanceof Refusal) return sendRefusal(exchange, admitted);
  const { caller, userId } = admitted;
  const receipt = caller.mode === 'live' ? await receiptNamed(plane, caller.app.appId, userId, name) : undefined;
  if (receipt === undefined) return sendRefusal(exchange, unknownCall());
  sendJson(exchange.response, 200, receiptToWire(receipt));
}

/** Looks for the wallet first: the calls of a user who has disconnected are not read, like those of a stranger (WA-02). */
async function receiptNamed(
  { wallets, usage }: DataPlane,
  appId: AppId,
  userId: EndUserId,
  name: string,
): Promise<CallReceipt | undefined> {
  const callId = parseCallId(name);
  if (callId === undefined || (await wallets.findConnected(appId, userId)) === undefined) return undefined;
  return usage.receipt(appId, userId, callId);
}

function unknownCall(): Refusal<'NOT_FOUND'> {
  return refuse(
    'NOT_FOUND',
    'This user has no call with this id, it is still running, or its month is archived. Send the `x-service-call-id` of an answer and its user. Calls with a test key have no receipts.',
  );
}
