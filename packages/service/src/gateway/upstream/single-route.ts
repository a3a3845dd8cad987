import type { Hold } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import { outputTokensWithin, providerCallOf } from '#gateway/usage/hold-request.ts';
import type { Mode } from '#kernel/values/ids.ts';

/** The route of a call with play money: its first upstream, which is never sent anything. */
export function createSingleRoute({ call, granted }: Hold<Mode>): Route {
  const [upstream] = call.upstreams;
  const outputTokens = outputTokensWithin(call, granted);
  return {
    upstream,
    key: 0,
    tries: 0,
    sentMs: 0,
    failedTries: undefined,
    isAnswered: false,
    outputTokens,
    begin: () => undefined,
    callOf: (asked) => providerCallOf(asked, { upstream, outputTokens, timeoutMs: upstream.timeoutMs }),
    signalFor: (signal) => signal,
    answered: () => {},
    failed: (fault) => fault,
    ended: () => {},
  };
}
