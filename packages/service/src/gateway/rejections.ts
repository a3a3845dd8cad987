import type { AttemptDigests } from '#attempts/attempt.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AppId, EndUserId, Mode } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import { UpstreamError } from '#providers/provider.ts';

/** What of a call decides whether its provider takes it. */
interface RequestOfCall {
  readonly call: {
    readonly app: { readonly appId: AppId };
    readonly userId: EndUserId;
    readonly model: { readonly id: string };
  };
  readonly asked: { readonly request: JsonObject };
}

/** Requests that a provider has just rejected for what they say, in this process (CC-15). */
export interface Rejections {
  /** True when this very request would only be rejected again. */
  readonly has: (mode: Mode, asking: RequestOfCall) => boolean;
  /** Remembers the request where this is how its provider failed. */
  readonly note: (mode: Mode, asking: RequestOfCall, fault: unknown) => void;
}

const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX = 10_000;

export function createRejections(digests: AttemptDigests, clock: Clock): Rejections {
  const untilMs = new Map<string, number>(); // In the order in which they are to be forgotten.

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
    untilMs.delete(request); // To the end of the order.
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
