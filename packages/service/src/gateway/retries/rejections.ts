import type { Rejections, RequestOfCall } from '#gateway/call/call.ts';
import type { IdempotencyDigests } from '#idempotency/idempotency-key.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** This is long enough for a client that tries again at once, and short enough for a provider that changes its mind. */
const REMEMBERED_MS = 5_000;
/** The oldest are forgotten above this, so that bad requests cannot fill the memory. */
const REMEMBERED_MAX = 10_000;

/** The statuses by which a provider rejects the request itself. A wrong key has others, and is soon put right. */
const REJECTING = new Set([400, 404, 422]);

/** One error of a kind for all, because its stack says nothing. */
const AGAIN = new Map(
  (['rejected', 'too-long', 'unauthorized'] as const).map((kind) => [
    kind as UpstreamError['kind'],
    new UpstreamError(kind, 'The provider has just rejected this request.'),
  ]),
);

interface Remembered {
  readonly untilMs: number;
  readonly failure: UpstreamError;
}

function rejectionOf(fault: unknown): UpstreamError | undefined {
  if (!(fault instanceof UpstreamError)) return undefined;
  const { kind, status } = fault;
  const isRejected = status === undefined ? kind !== 'unauthorized' : REJECTING.has(status);
  return isRejected ? AGAIN.get(kind) : undefined;
}

export function createRejections(digests: IdempotencyDigests, clock: Clock): Rejections {
  const remembered = new Map<string, Remembered>(); // By digest: the request itself is never kept. Ordered by expiry.

  function requestOf(mode: Mode, { call: { app, userId, model }, asked }: RequestOfCall): string {
    const text = JSON.stringify(asked.request) + (asked.native?.text ?? '');
    return digests.requestOf({ appId: app.appId, mode, userId }, model.id, text);
  }

  function forgetOld(): void {
    const nowMs = clock.nowMs();
    for (const [request, { untilMs }] of remembered) {
      if (untilMs > nowMs && remembered.size <= REMEMBERED_MAX) return;
      remembered.delete(request);
    }
  }

  function note(mode: Mode, asking: RequestOfCall, fault: unknown): void {
    const failure = rejectionOf(fault);
    if (failure === undefined) return;
    const request = requestOf(mode, asking);
    remembered.delete(request); // So that it moves to the end of the order.
    remembered.set(request, { untilMs: clock.nowMs() + REMEMBERED_MS, failure });
    forgetOld();
  }

  return {
    find: (mode, asking) => {
      if (remembered.size === 0) return undefined;
      forgetOld();
      return remembered.get(requestOf(mode, asking))?.failure;
    },
    note,
  };
}
