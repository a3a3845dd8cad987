import { admitForUser, type DataPlane } from '#http/data-plane/data-plane.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { isoOf, startOfMonth } from '#kernel/time/clock.ts';
import type { EndUserId } from '#kernel/values/ids.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { isMonth, type ModelUsage } from '#calls/usage/usage.ts';

/**
 * `GET /usage/summary` returns what the user spent through this app in a UTC month. It is empty with a test key, and
 * without a connected wallet (BI-03, SB-09).
 */
export async function handleUsageSummary(plane: DataPlane, exchange: Exchange): Promise<void> {
  const admitted = await admitForUser(plane, exchange);
  if (admitted instanceof Refusal) return sendRefusal(exchange, admitted);
  const month = new URLSearchParams(exchange.query).get('month') ?? isoOf(plane.clock.nowMs()).slice(0, 7);
  if (!isMonth(month)) {
    return sendRefusal(exchange, refuse('BAD_REQUEST', '`month` must look like `2026-01`.', { param: 'month' }));
  }
  const { caller, userId } = admitted;
  const models = caller.mode === 'live' ? await usageOf(plane, caller.app.appId, userId, month) : [];
  sendJson(exchange.response, 200, toWire(plane.currency, userId, month, models));
}

/** The usage of a connected wallet. A disconnected one counts as none (BI-03). */
async function usageOf(
  { wallets, usage }: DataPlane,
  appId: Parameters<DataPlane['wallets']['findConnected']>[0],
  userId: EndUserId,
  month: string,
): Promise<readonly ModelUsage[]> {
  const wallet = await wallets.findConnected(appId, userId);
  return wallet === undefined ? [] : usage.ofMonth({ appId, userId, walletId: wallet.walletId }, month);
}

/** The totals are sums of the rows, so that they always agree with them. */
function toWire(currency: string, userId: EndUserId, month: string, models: readonly ModelUsage[]) {
  const sum = (pick: (usage: ModelUsage) => number) => models.reduce((total, usage) => total + pick(usage), 0);
  const promptTokens = sum((usage) => usage.promptTokens);
  const completionTokens = sum((usage) => usage.completionTokens);
  return {
    userId,
    currency,
    periodStart: isoOf(startOfMonth(month, 0)),
    periodEnd: isoOf(startOfMonth(month, 1)),
    requests: sum((usage) => usage.requests),
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    chargedMicros: sum((usage) => microsToWire(usage.charged)),
    models: models.map(({ charged, ...usage }) => ({ ...usage, chargedMicros: microsToWire(charged) })),
  };
}
