import type { StreamPace } from '#gateway/call/call.ts';
import { holdRequestOf } from '#gateway/usage/hold-request.ts';
import { refusalOfHold } from '#gateway/answer/refusals.ts';
import type { UncountedLane } from '#gateway/call/lane.ts';
import { createSandboxProvider } from '#gateway/lanes/sandbox-provider.ts';
import type { SandboxHolds } from '#sandbox/sandbox-hold.ts';

interface SandboxLaneOptions {
  readonly holds: SandboxHolds;
  /** Refusals of fake money point to a page without a token, which leads to no payment (SB-06). */
  readonly placeholders: { readonly topup: string };
  /** By the wait for a stream's status, outcomes are timed. */
  readonly pace: StreamPace;
}

/** Fake money, and an answer or a failure that was asked for: no provider, no receipt, no event. */
export function createSandboxLane({ holds, placeholders, pace }: SandboxLaneOptions): UncountedLane<'sandbox'> {
  const nowhere = (): string => placeholders.topup;

  return {
    mode: 'sandbox',
    place: (call, joined) => holds.place(holdRequestOf(call, joined)),
    refusalOf: (_call, outcome) => refusalOfHold(outcome, { topup: nowhere, cap: nowhere }),
    settle: ({ call, granted }, { charge, outcome, usage }, isUnkept) => {
      const tokens = outcome === 'failed' ? 0 : usage.promptTokens + usage.completionTokens;
      return holds.settle({ callId: call.callId, charge, tokens, isUnkept }, granted);
    },
    providerOf: (call) => createSandboxProvider(call, pace),
    offerSlot: () => () => {}, // The canned stream ends at once and an outcome is cancelled: nothing is ever drained.
  };
}
