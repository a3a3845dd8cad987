import { refusalOfHold, tooManyCalls } from '#gateway/answer/refusals.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import type { Lane } from '#gateway/call/lane.ts';
import { dismissing, type RunningCalls } from '#gateway/lanes/running-calls.ts';
import { createSandboxProvider } from '#gateway/lanes/sandbox-provider.ts';
import { createSingleRoute } from '#gateway/upstream/single-route.ts';
import { holdRequestOf } from '#gateway/usage/hold-request.ts';
import type { SandboxHolds } from '#sandbox/holds/sandbox-holds.ts';

interface SandboxLaneOptions {
  readonly holds: SandboxHolds;
  /** Refusals of fake money link to a page without a token, which leads to no payment (SB-06). */
  readonly placeholders: { readonly topup: string };
  /** Outcomes are timed in multiples of the wait for a stream's status. */
  readonly pace: StreamPace;
  readonly running: RunningCalls;
}

/**
 * Creates the lane for fake money, with the answer or the failure that the call asks for. It has no provider, no
 * receipt and no event.
 */
export function createSandboxLane({ holds, placeholders, pace, running }: SandboxLaneOptions): Lane<'sandbox'> {
  const placeholder = (): string => placeholders.topup;

  return {
    mode: 'sandbox',
    place: (call, joined) => {
      if (!running.admit(call)) return Promise.resolve({ kind: 'refused', refusal: tooManyCalls('This app') });
      return holds.place(holdRequestOf(call, joined)).then(
        (answer) => {
          if (answer.kind !== 'granted') running.dismiss(call);
          switch (answer.kind) {
            case 'granted':
              return running.begin<'sandbox'>({ mode: 'sandbox', call, granted: answer.granted, plays: answer.plays });
            case 'refused':
              return {
                kind: 'refused',
                refusal: refusalOfHold(answer.reason, { topup: placeholder, cap: placeholder }),
              };
            case 'earlier':
              return answer;
          }
        },
        dismissing(running, call),
      );
    },
    settle: (hold, ending, when) => {
      const { charge, outcome, usage } = ending;
      // The sandbox has no receipts: its wallet counts tokens for tests to look at.
      const tokens = outcome === 'failed' ? 0 : usage.promptTokens + usage.completionTokens;
      const { callId, session } = hold.call;
      const settlement = { callId, charge, tokens, session, isUnkept: when === 'unless-joined' };
      return running.end(hold, ending, holds.settle(settlement, hold.granted));
    },
    routeOf: createSingleRoute,
    providerOf: (hold) => createSandboxProvider(hold, pace),
    // The canned stream ends at once and an outcome is cancelled when its caller leaves, so nothing is ever drained.
    offerSlot: () => () => {},
  };
}
