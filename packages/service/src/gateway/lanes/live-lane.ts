import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Links } from '#connections/link.ts';
import { refusalOfHold, tooManyCalls } from '#gateway/answer/refusals.ts';
import type { Hold, Lane } from '#gateway/call/lane.ts';
import { dismissing, type RunningCalls } from '#gateway/lanes/running-calls.ts';
import { holdRequestOf } from '#gateway/usage/hold-request.ts';
import { createVendorCounts } from '#gateway/lanes/vendor-counts.ts';
import type { Upstreams } from '#gateway/upstream/upstreams.ts';
import type { DrainSlots } from '#ledger/hold/drain-slots.ts';
import type { Holds } from '#ledger/holds.ts';
import type { Provider } from '#providers/port/provider.ts';

interface LiveLaneOptions {
  readonly holds: Holds;
  readonly drainSlots: DrainSlots;
  readonly links: Pick<Links, 'topup' | 'cap'>;
  /** The client for this key of the provider's pool, counted from 0. */
  readonly clientOf: (definition: CatalogueProvider, key: number) => Provider;
  readonly upstreams: Upstreams;
  readonly running: RunningCalls;
}

/**
 * Creates the lane for real money and real providers. It is the only lane that reaches the ledger, so that no sandbox
 * call can cost anything.
 */
export function createLiveLane(options: LiveLaneOptions): Lane<'live'> {
  const { holds, drainSlots, links, clientOf, upstreams, running } = options;
  return {
    mode: 'live',
    place: (call, joined) => {
      if (!running.admit(call)) return Promise.resolve({ kind: 'refused', refusal: tooManyCalls('This app') });
      const request = holdRequestOf(call, joined);
      return holds.place(request).then(
        (answer) => {
          if (answer.kind !== 'granted') running.dismiss(call);
          switch (answer.kind) {
            case 'granted':
              return running.begin<'live'>({ mode: 'live', call, granted: answer.granted });
            case 'refused': {
              const { least } = request;
              const topup = () => links.topup(request, least);
              const cap = () => links.cap(request, least);
              return { kind: 'refused', refusal: refusalOfHold(answer.reason, { topup, cap }) };
            }
            case 'earlier':
              return answer;
          }
        },
        dismissing(running, call),
      );
    },
    settle: (hold, ending, when) => {
      // A new object, because the ledger keeps it on disk in an outage: it must hold nothing of prompt or answer.
      const { callId, correlationId, model, session } = hold.call;
      const { charge, priceId, outcome, usage, isEstimated, isUsageClamped } = ending;
      const settlement = {
        callId,
        correlationId,
        model: model.id,
        priceId: priceId ?? hold.call.upstreams[0].price.priceId,
        charge,
        outcome,
        usage,
        isEstimated,
        isUsageClamped,
        session,
        isUnkept: when === 'unless-joined',
      };
      return running.end(hold, ending, holds.settle(settlement, hold.granted));
    },
    countPrompt: createVendorCounts({ clientOf }),
    routeOf: upstreams.routeOf,
    providerOf: (_hold, { upstream, key }) => clientOf(upstream.provider, key),
    // Another process may be the one whose new stream takes the slot, so the offer is in the database.
    offerSlot: ({ call }: Hold<'live'>, onTaken) => drainSlots.offer(call.callId, onTaken),
  };
}
