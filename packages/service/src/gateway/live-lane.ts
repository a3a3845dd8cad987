import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Links } from '#connections/link.ts';
import { holdRequestOf } from '#gateway/call.ts';
import type { Ending, Hold, Lane } from '#gateway/lane.ts';
import { refusalOfHold } from '#gateway/refusals.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { Micros } from '#kernel/micros.ts';
import type { DrainSlots } from '#ledger/drain-slots.ts';
import type { Holds } from '#ledger/hold.ts';
import type { SettledCall } from '#ledger/settling.ts';
import type { Provider } from '#providers/provider.ts';

interface LiveLaneOptions {
  readonly holds: Holds;
  readonly drainSlots: DrainSlots;
  readonly links: Pick<Links, 'topup' | 'cap'>;
  readonly clientOf: (definition: CatalogueProvider) => Provider;
}

/** Real money, real providers. */
export function createLiveLane({ holds, drainSlots, links, clientOf }: LiveLaneOptions): Lane<'live'> {
  function settle<Told>(
    { call, granted }: Hold<'live'>,
    ending: Ending,
    { isUnkept, told }: { readonly isUnkept: boolean; readonly told: (settled: SettledCall) => Told },
  ): Promise<Told> {
    const { charge, outcome, usage, isEstimated, isUsageClamped } = ending;
    const { callId, correlationId, model } = call;
    const priced = { model: model.id, priceId: model.price.priceId };
    const counted = { usage, isEstimated, isUsageClamped };
    const settlement = { callId, correlationId, ...priced, charge, outcome, ...counted, isUnkept };
    failpoint('live.settling');
    return holds.settle(settlement, granted).then((settled) => {
      failpoint('live.settled');
      return told(settled);
    });
  }

  return {
    mode: 'live',
    placeHold: (call, joined) => {
      failpoint('live.placing');
      const request = holdRequestOf(call, joined);
      return holds.place(request).then((answer) => {
        failpoint('live.placed');
        if ('earlier' in answer) return answer;
        const { outcome, granted } = answer;
        if (outcome === 'granted') return { mode: 'live', call, granted };
        return refusalOfHold(outcome, {
          topup: () => links.topup(request, request.least),
          cap: () => links.cap(request, request.least),
        });
      });
    },
    endHold: (hold, ending) => settle(hold, ending, { isUnkept: false, told: ({ charged }) => charged }),
    endUnlessJoined: (hold, ending) => settle(hold, ending, { isUnkept: true, told: chargedUnlessJoined }),
    providerOf: ({ model }) => clientOf(model.provider),
    offerSlot: ({ call }, onTaken) => drainSlots.offer(call.callId, onTaken),
  };
}

function chargedUnlessJoined({ charged, isJoined }: SettledCall): Micros | undefined {
  return isJoined === true ? undefined : charged;
}
