import { paymentRequired } from '#gateway/answer/refusals.ts';
import { admitForUser, type DataPlane } from '#http/data-plane/data-plane.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { walletToWire } from '#http/serializers/wallet-to-wire.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/**
 * `GET /balance` returns the real wallet of (app, user). Without a connected wallet, or with a test key, it answers
 * with the same 402 as a call, so that an app needs only one way to send a user to the top-up page (BI-01, SB-09).
 */
export async function handleBalance(plane: DataPlane, exchange: Exchange): Promise<void> {
  const admitted = await admitForUser(plane, exchange);
  if (admitted instanceof Refusal) return sendRefusal(exchange, admitted);
  const { caller, userId } = admitted;
  const { appId } = caller.app;
  if (caller.mode === 'sandbox') return sendRefusal(exchange, paymentRequired(plane.links.placeholders.topup));
  const wallet = await plane.wallets.findConnected(appId, userId);
  if (wallet === undefined) return sendRefusal(exchange, paymentRequired(plane.links.topup({ appId, userId })));
  sendJson(exchange.response, 200, walletToWire(wallet));
}
