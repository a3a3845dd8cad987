import type { Model } from '#catalogue/catalogue.ts';
import type { Health } from '#gateway/upstream/health.ts';
import type { UpstreamState, UpstreamStates } from '#gateway/upstream/upstream-state.ts';

/** Calls of the last minute in this process. */
interface Counts {
  readonly calls: number;
  readonly failures: number;
}

/** How an upstream serves, as operators see it. Times are in milliseconds. */
export interface UpstreamReport {
  readonly provider: string;
  readonly providerModel: string;
  /** The models of the catalogue that it serves. */
  readonly models: readonly string[];
  /**
   * `closed` means that calls go there, `open` that others are asked first, and `testing` that one call finds out
   * whether it is well again.
   */
  readonly state: 'closed' | 'open' | 'testing';
  /** The milliseconds until an open upstream is tested. */
  readonly testInMs: number | undefined;
  /** Failures are those of the server: outages, timeouts, broken answers. */
  readonly lastMinute: Counts & { readonly firstByteMs: number | undefined };
  /** Failures are those of the key: throttled, or refused. */
  readonly keys: readonly (Counts & { readonly name: string | undefined; readonly state: UpstreamReport['state'] })[];
  /** The calls of the provider that are under way, if it has limits. */
  readonly underWay: number | undefined;
  readonly waiting: number | undefined;
}

/** Reports every upstream of the models. One that was never used has no calls. */
export function reportUpstreams(
  models: readonly Model[],
  states: UpstreamStates,
  nowMs: number,
): readonly UpstreamReport[] {
  const served = new Map<UpstreamState, { readonly models: Set<string> }>();
  for (const { id, upstreams } of models) {
    for (const upstream of upstreams) {
      const state = states.of(upstream);
      const known = served.get(state) ?? { models: new Set() };
      known.models.add(id);
      served.set(state, known);
    }
  }
  return Array.from(served, ([state, { models: ids }]) => reportOf(state, [...ids], nowMs));
}

function reportOf(state: UpstreamState, models: readonly string[], nowMs: number): UpstreamReport {
  const { providerName, providerModel, server, keys, gate } = state;
  const shut = shutOf(state);
  return {
    provider: providerName,
    providerModel,
    models,
    state: shut?.state() ?? 'closed',
    testInMs: shut === undefined ? undefined : Math.ceil(shut.opensInMs(nowMs)),
    lastMinute: server.counts(nowMs),
    keys: keys.map((key) => {
      const { calls, failures } = key.counts(nowMs);
      return { name: key.name, state: key.state(), calls, failures };
    }),
    underWay: gate?.running(),
    waiting: gate?.waiting(),
  };
}

/** What keeps calls away: the server, or all of its keys. Undefined if nothing does. */
function shutOf({ server, keys }: UpstreamState): Health | undefined {
  if (server.state() !== 'closed') return server;
  const [first] = keys;
  return keys.every((key) => key.state() !== 'closed') ? first : undefined;
}

/** The upstream's models are listed by alias as well: each counts once. */
export function modelsOf(list: readonly { readonly model: Model }[]): readonly Model[] {
  return [...new Set(list.map(({ model }) => model))];
}
