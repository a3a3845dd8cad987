import type { Rejections, RequestOfCall } from '#gateway/call/call.ts';
import type { IdempotencyDigests } from '#idempotency/idempotency-key.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Mode } from '#kernel/ids.ts';
import { UpstreamError } from '#providers/provider.ts';

/** Long enough for a client that tries again at once, short enough for a provider that changes its mind. */
const REMEMBERED_MS = 5_000;
/** The oldest are forgotten above this, so that bad requests cannot fill the memory. */
const REMEMBERED_MAX = 10_000;

export function createRejections(digests: IdempotencyDigests, clock: Clock): Rejections {
  const untilMs = new Map<string, number>(); // By digest: the request itself is never kept. Ordered by expiry.

  function requestOf(mode: Mode, { call: { app, userId, model }, asked }: RequestOfCall): string {
    return digests.requestOf({ appId: app.appId, mode, userId }, model.id, JSON.stringify(asked.request));
  }

  function forgetOld(): void {
    const nowMs = clock.nowMs();
    for (const [request, until] of untilMs) {
      if (until > nowMs && untilMs.size <= REMEMBERED_MAX) return;
      untilMs.delete(request);
    }
  }

  function note(mode: Mode, asking: RequestOfCall, fault: unknown): void {
    if (!(fault instanceof UpstreamError) || fault.kind !== 'rejected') return;
    const request = requestOf(mode, asking);
    untilMs.delete(request); // So that it moves to the end of the order.
    untilMs.set(request, clock.nowMs() + REMEMBERED_MS);
    forgetOld();
  }

  return {
    has: (mode, asking) => {
      forgetOld();
      return untilMs.size > 0 && untilMs.has(requestOf(mode, asking));
    },
    note,
  };
}
