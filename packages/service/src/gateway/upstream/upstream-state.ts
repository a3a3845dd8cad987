import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Upstream } from '#catalogue/catalogue.ts';
import { Gate } from '#gateway/upstream/gate.ts';
import { Health } from '#gateway/upstream/health.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { UpstreamError } from '#providers/port/provider.ts';

/** What this process knows of a model at a provider. It outlives the catalogue's entries, which are new after each change. */
export interface UpstreamState {
  readonly providerName: string;
  readonly providerModel: string;
  /** Failures of the server, over all keys. */
  readonly server: Health;
  /** Failures of each key of the provider's pool: throttled, or refused. */
  keys: readonly KeyState[];
  /** The provider's limits, for all of its models together. Undefined if it has none. */
  gate: Gate | undefined;
  /** The key with which the next call begins, so that all keys of a pool share the work. */
  nextKey: number;
  readonly totals: UpstreamTotals;
}

/** What this process knows of one key at one upstream. */
class KeyState extends Health {
  /** Its name in the settings. Undefined for a provider that has no pool. */
  readonly name: string | undefined;

  constructor(name: string | undefined) {
    super();
    this.name = name;
  }
}

/** The totals since this process has known the upstream. */
interface UpstreamTotals {
  answered: number;
  throttled: number;
  failed: number;
  /** The calls that were rejected or given up. They say nothing about the upstream. */
  others: number;
  /** Calls that were turned away by the limits of the provider here. */
  overflows: number;
  firstBytes: number;
  firstByteMs: number;
}

/** Changes of the catalogue leave old entries behind. Above this, those without a call under way are forgotten. */
const STATES_MAX = 2_000;

/** All upstreams that this process has used. */
export interface UpstreamStates {
  readonly of: (upstream: Upstream) => UpstreamState;
  readonly all: () => readonly UpstreamState[];
  /** Tells operators that calls avoid an upstream, or one of its keys, and that they come back. */
  readonly tellOpen: (state: UpstreamState, fault: UpstreamError, key?: KeyState) => void;
  readonly tellClosed: (state: UpstreamState, key?: KeyState) => void;
}

interface StatesOptions {
  readonly clock: SteadyClock;
  readonly log: Log;
  /** The names of the keys of a provider's pool; one that is undefined for a provider without a pool. */
  readonly keysOf: (provider: CatalogueProvider) => readonly (string | undefined)[];
}

export function createUpstreamStates({ clock, log, keysOf }: StatesOptions): UpstreamStates {
  // Weak, because a new catalogue brings new entries. A look-up by the entry is cheaper than one by two names.
  const byEntry = new WeakMap<Upstream, UpstreamState>();
  const byName = new Map<string, UpstreamState>();
  const gates = new Map<string, Gate>();

  function gateOf({ providerName, provider: { limits } }: Upstream): Gate | undefined {
    const known = gates.get(providerName);
    if (limits === undefined && known === undefined) return undefined;
    const gate = known ?? new Gate(clock);
    gates.set(providerName, gate);
    gate.setLimits(limits ?? {});
    return limits === undefined ? undefined : gate;
  }

  function find(upstream: Upstream): UpstreamState {
    const { providerName, providerModel, provider } = upstream;
    const name = `${providerName} ${providerModel}`;
    const state = byName.get(name) ?? createState(providerName, providerModel);
    if (byName.size >= STATES_MAX) byName.clear();
    byName.set(name, state);
    byEntry.set(upstream, state);
    // A key keeps its state as long as it has its name.
    const known = new Map(state.keys.map((key) => [key.name, key]));
    state.keys = keysOf(provider).map((key) => known.get(key) ?? new KeyState(key));
    state.gate = gateOf(upstream);
    return state;
  }

  return {
    of: (upstream) => byEntry.get(upstream) ?? find(upstream),
    all: () => [...byName.values()],
    tellOpen: (state, { kind, status }, key) =>
      log.warn({ ...namesOf(state, key), kind, status }, 'an upstream fails too often, and is asked last'),
    tellClosed: (state, key) => log.info(namesOf(state, key), 'an upstream answers again'),
  };
}

function namesOf({ providerName: provider, providerModel }: UpstreamState, key: KeyState | undefined): object {
  return { provider, providerModel, key: key?.name };
}

function createState(providerName: string, providerModel: string): UpstreamState {
  return {
    providerName,
    providerModel,
    server: new Health(),
    keys: [],
    gate: undefined,
    nextKey: 0,
    totals: { answered: 0, throttled: 0, failed: 0, others: 0, overflows: 0, firstBytes: 0, firstByteMs: 0 },
  };
}
