import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Links } from '#connections/link.ts';
import { holdRequestOf } from '#gateway/usage/hold-request.ts';
import type { UncountedLane } from '#gateway/call/lane.ts';
import { refusalOfHold } from '#gateway/answer/refusals.ts';
import type { DrainSlots } from '#ledger/hold/drain-slots.ts';
import type { Holds } from '#ledger/holds.ts';
import type { Provider } from '#providers/provider.ts';

interface LiveLaneOptions {
  readonly holds: Holds;
  readonly drainSlots: DrainSlots;
  readonly links: Pick<Links, 'topup' | 'cap'>;
  readonly clientOf: (definition: CatalogueProvider) => Provider;
}

/** Real money, real providers. */
export function createLiveLane({ holds, drainSlots, links, clientOf }: LiveLaneOptions): UncountedLane<'live'> {
  return {
    mode: 'live',
    place: (call, joined) => holds.place(holdRequestOf(call, joined)),
    refusalOf: (call, outcome) => {
      const request = holdRequestOf(call);
      const { least } = request;
      return refusalOfHold(outcome, { topup: () => links.topup(request, least), cap: () => links.cap(request, least) });
    },
    settle: ({ call, granted }, ending, isUnkept) => {
      const { callId, correlationId, model } = call;
      const { charge, outcome, usage, isEstimated, isUsageClamped } = ending;
      return holds.settle(
        {
          callId,
          correlationId,
          model: model.id,
          priceId: model.price.priceId,
          charge,
          outcome,
          usage,
          isEstimated,
          isUsageClamped,
          isUnkept,
        },
        granted,
      );
    },
    providerOf: ({ model }) => clientOf(model.provider),
    offerSlot: ({ call }, onTaken) => drainSlots.offer(call.callId, onTaken),
  };
}
