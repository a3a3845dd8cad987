import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { TopupLinks } from '#connections/topup-link.ts';
import { holdRangeOf } from '#gateway/call.ts';
import type { Lane } from '#gateway/lane.ts';
import { refusalOfHold } from '#gateway/refusals.ts';
import { assert } from '#kernel/assert.ts';
import type { Holds } from '#ledger/hold.ts';
import type { Provider } from '#providers/provider.ts';

interface LiveLaneOptions {
  readonly holds: Holds;
  readonly links: TopupLinks;
  readonly providers: () => ReadonlyMap<string, CatalogueProvider>;
  readonly clientOf: (definition: CatalogueProvider) => Provider;
}

/** Real money, real providers. */
export function createLiveLane({ holds, links, providers, clientOf }: LiveLaneOptions): Lane<'live'> {
  return {
    mode: 'live',
    placeHold: async (call) => {
      const { callId, userId, app, isStream } = call;
      const streamsMax = isStream ? app.limits.maxStreamsPerUser : 0;
      const { outcome, granted } = await holds.place({
        callId,
        appId: app.appId,
        userId,
        streamsMax,
        ...holdRangeOf(call),
      });
      if (outcome !== 'granted') return refusalOfHold(outcome, links.create(app.appId, userId));
      return { mode: 'live', call, granted };
    },
    endHold: async ({ call }, { charge, outcome, usage, isEstimated }) => {
      const { callId, correlationId, model } = call;
      const priced = { model: model.id, priceId: model.price.priceId };
      const { charged } = await holds.settle({ callId, correlationId, ...priced, charge, outcome, usage, isEstimated });
      return charged;
    },
    providerOf: ({ model }) => {
      const definition = providers().get(model.provider);
      assert(definition !== undefined, 'a served model has a provider');
      return clientOf(definition);
    },
  };
}
