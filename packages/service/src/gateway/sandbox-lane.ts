import { holdRequestOf } from '#gateway/call.ts';
import { refusalOfHold } from '#gateway/refusals.ts';
import type { Ending, Hold, Lane, Provider } from '#gateway/lane.ts';
import { cannedChunks, cannedCompletion } from '#sandbox/canned-answer.ts';
import type { SandboxHolds } from '#sandbox/sandbox-hold.ts';

interface SandboxLaneOptions {
  readonly holds: SandboxHolds;
  /** Where the refusals of fake money point: a page without a token, which leads to no payment (SB-06). */
  readonly placeholderUrl: string;
}

/** Fake money and a fixed answer: no provider, no receipt, no event. */
export function createSandboxLane({ holds, placeholderUrl }: SandboxLaneOptions): Lane<'sandbox'> {
  function settle({ call, granted }: Hold<'sandbox'>, { charge, outcome, usage }: Ending, isUnkept: boolean) {
    const tokens = outcome === 'failed' ? 0 : usage.promptTokens + usage.completionTokens;
    return holds.settle({ callId: call.callId, charge, tokens, isUnkept }, granted);
  }

  return {
    mode: 'sandbox',
    placeHold: async (call, joined) => {
      const answer = await holds.place(holdRequestOf(call, joined));
      if ('earlier' in answer) return answer;
      const { outcome, granted } = answer;
      return outcome === 'granted' ? { mode: 'sandbox', call, granted } : refusalOfHold(outcome, placeholderUrl);
    },
    endHold: (hold, ending) => settle(hold, ending, false).then(({ charged }) => charged),
    endUnlessJoined: (hold, ending) =>
      settle(hold, ending, true).then(({ charged, isJoined }) => (isJoined === true ? undefined : charged)),
    providerOf: (call) => cannedProvider(call.callId, call.prompt.tokensEstimated),
    offerSlot: () => () => {}, // The canned stream ends at once, so that nothing is ever drained.
  };
}

/** The fixed answer in the place of a provider, so that all that follows is the same code. */
function cannedProvider(callId: string, promptTokens: number): Provider {
  return {
    complete: async (call) => cannedCompletion({ callId, promptTokens, outputTokensMax: call.outputTokens }),
    stream: async (call) => once(cannedChunks({ callId, promptTokens, outputTokensMax: call.outputTokens })),
  };
}

async function* once<Item>(item: Item): AsyncGenerator<Item, void, undefined> {
  yield item;
}
