import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { TopupLinks } from '#connections/topup-link.ts';
import { holdRequestOf } from '#gateway/call.ts';
import type { Lane } from '#gateway/lane.ts';
import { refusalOfHold } from '#gateway/refusals.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { DrainSlots } from '#ledger/drain-slots.ts';
import type { Holds } from '#ledger/hold.ts';
import type { Provider } from '#providers/provider.ts';

interface LiveLaneOptions {
  readonly holds: Holds;
  readonly drainSlots: DrainSlots;
  readonly links: TopupLinks;
  readonly clientOf: (definition: CatalogueProvider) => Provider;
}

/** Real money, real providers. */
export function createLiveLane({ holds, drainSlots, links, clientOf }: LiveLaneOptions): Lane<'live'> {
  return {
    mode: 'live',
    placeHold: async (call) => {
      failpoint('live.placing');
      const { outcome, granted } = await holds.place(holdRequestOf(call));
      failpoint('live.placed');
      if (outcome !== 'granted') return refusalOfHold(outcome, links.create(call.app.appId, call.userId));
      return { mode: 'live', call, granted };
    },
    endHold: async ({ call, granted }, { charge, outcome, usage, isEstimated, isUsageClamped }) => {
      const { callId, correlationId, model } = call;
      const priced = { model: model.id, priceId: model.price.priceId };
      const counted = { usage, isEstimated, isUsageClamped };
      const settlement = { callId, correlationId, ...priced, charge, outcome, ...counted };
      failpoint('live.settling');
      const { charged } = await holds.settle(settlement, granted);
      failpoint('live.settled');
      return charged;
    },
    providerOf: ({ model }) => clientOf(model.provider),
    offerSlot: ({ call }, onTaken) => drainSlots.offer(call.callId, onTaken),
  };
}
