import { apisOf } from '@purser/contract/apis.ts';
import {
  type Api,
  type CatalogueProvider,
  type CatalogueUpstream,
  reasonsOutOfSight,
  type Tokenizer,
  upstreamsOf,
} from '@purser/contract/catalogue.ts';
import { defaultOutputLimitParameter } from '@purser/contract/output-limit.ts';
import { type PriceRow, priceAt, priceOf, startOf } from '#catalogue/price-row.ts';
import type { Price } from '#catalogue/price.ts';
import { type ModelRow, selectAliases, selectModels, selectPrices, selectProviders } from '#catalogue/queries.ts';
import { inSnapshot, type Pool } from '#db/pool/pool.ts';
import { selectGenerations } from '#db/processes/queries.ts';
import { assert } from '#kernel/faults/assert.ts';
import { type Clock, systemClock } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A model as a call uses it. Immutable: a call keeps the one it began with, price included (MO-05). */
export interface Model {
  /** The resolved identifier: what answers and receipts carry, never an alias (CC-02). */
  readonly id: string;
  /** Who serves it and can be reached from here. A call prefers the first, or chooses by weight. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly resale: 'open' | 'reserved';
  /** It is true when the model is enabled and this process has what it needs to call one of its providers. */
  readonly isServed: boolean;
  /** What a prompt and its answer may have together. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly defaultOutputTokens: number;
  readonly minOutputTokens: number;
  readonly promptOverheadTokens: number;
  /**
   * The most tokens of an image. Undefined means that images are refused: without a bound on their tokens, no hold
   * could cover them.
   */
  readonly imageTokensMax: number | undefined;
  /** The most numbers of a vector. Undefined if it is no model of embeddings. */
  readonly dimensionsMax: number | undefined;
  /** The parameters that calls may have. Undefined means every parameter that the gateway knows. */
  readonly parameters: ReadonlySet<string> | undefined;
  readonly tokenizer: Tokenizer;
  /** How long a call may take until it is answered, over all upstreams that are asked. */
  readonly timeoutMs: number;
}

/** A model as one provider serves it. Immutable, like its model. */
export interface Upstream {
  /** The provider's name in the catalogue. */
  readonly providerName: string;
  readonly provider: CatalogueProvider;
  /** The provider's own name of the model. */
  readonly providerModel: string;
  /** The interfaces by which it serves the model. */
  readonly apis: readonly Api[];
  /** Whether the model reasons, so that it gives and takes back what it thought where nobody can read it. */
  readonly isReasoning: boolean;
  /** What a call costs that this upstream has served. */
  readonly price: Price;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly onAbandon: 'cancel' | 'drain';
  readonly timeoutMs: number;
  /** How long a stream may take until its first chunk. If it is undefined, that is a minute while another upstream can be asked then. */
  readonly firstByteMs: number | undefined;
  /** Its share of the calls. Either all upstreams of a model have a weight, or none has. */
  readonly weight: number | undefined;
}

export interface Catalogue {
  /** The model that an identifier or alias stands for, served or not. */
  readonly find: (name: string) => Model | undefined;
  /** Every identifier and alias of a served model, with its model, in alphabetical order. */
  readonly list: () => readonly { readonly name: string; readonly model: Model }[];
  /** Loads what the database holds now. */
  readonly refresh: () => Promise<void>;
}

interface Snapshot {
  /** The number of changes up to this snapshot. A slow read with a lower number must not replace a newer snapshot. */
  readonly generation: bigint;
  readonly byName: ReadonlyMap<string, Model>;
  readonly list: readonly { readonly name: string; readonly model: Model }[];
  /** When the next price comes into force (MO-05). */
  readonly untilMs: number;
}

/** What the database holds. */
interface Rows {
  readonly generation: bigint;
  readonly providers: ReadonlyMap<string, CatalogueProvider>;
  readonly models: readonly ModelRow[];
  readonly prices: readonly PriceRow[];
  readonly aliases: readonly { readonly alias: string; readonly target: string }[];
}

const NO_ROWS: Rows = { generation: 0n, providers: new Map(), models: [], prices: [], aliases: [] };

/** Returns true when the app may call the model. Reserved models are for the operator's own apps (MO-04). */
export function isEntitled(app: { readonly isFirstParty: boolean }, model: Model): boolean {
  return model.resale === 'open' || app.isFirstParty;
}

/** Makes the refusal of a reserved model. It names what the caller sent and what to do about it (CC-05). */
export function notEntitled(name: string): Refusal<'MODEL_NOT_ENTITLED'> {
  return refuse(
    'MODEL_NOT_ENTITLED',
    `The model \`${name}\` is reserved for other apps. Call a model that \`GET /v1/models\` lists, ` +
      `or ask the operator of this service for access.`,
    { param: 'model' },
  );
}

/** Returns true if one of the names is the model's, or that of an alias which points to it now. */
export function isAmong(catalogue: Pick<Catalogue, 'find'>, names: readonly string[], model: Model): boolean {
  return names.some((name) => catalogue.find(name)?.id === model.id);
}

/** Makes the refusal of a model that the API key of a call may not use (CP-08). `models`: those that it may. */
export function notOfKey(name: string, models: readonly string[]): Refusal<'MODEL_NOT_ENTITLED'> {
  const some = models.slice(0, NAMED_MODELS_MAX).map((model) => `\`${model}\``);
  const list = `${some.join(', ')}${some.length < models.length ? ', ...' : ''}`;
  const message = `This API key may not call the model \`${name}\`. It may call: ${list}. The owner of the app can change that.`;
  return refuse('MODEL_NOT_ENTITLED', message, { param: 'model' });
}

const NAMED_MODELS_MAX = 10;

/**
 * Keeps the catalogue in memory, so that a call reads nothing. Empty until the first `refresh`. `canReach` says whether a
 * provider can be used from here: a provider whose key is not set cannot, and a model with no other counts as disabled. A price
 * that was set for later comes into force with the first call after its time (MO-05).
 */
export function createCatalogue(
  pool: Pool,
  canReach: (provider: CatalogueProvider) => boolean,
  clock: Clock = systemClock,
): Catalogue {
  let rows = NO_ROWS;
  let snapshot = snapshotOf(rows, canReach, clock.nowMs());
  const current = (): Snapshot => {
    const nowMs = clock.nowMs();
    if (nowMs >= snapshot.untilMs) snapshot = snapshotOf(rows, canReach, nowMs);
    return snapshot;
  };
  return {
    find: (name) => current().byName.get(name),
    list: () => current().list,
    refresh: async () => {
      const read = await inSnapshot(
        pool,
        async (tx): Promise<Rows> => ({
          generation: (await selectGenerations(tx)).get('catalogue') ?? 0n,
          providers: new Map((await selectProviders(tx)).map(({ name, definition }) => [name, definition])),
          models: await selectModels(tx),
          prices: await selectPrices(tx),
          aliases: await selectAliases(tx),
        }),
      );
      if (read.generation < rows.generation) return;
      rows = read;
      snapshot = snapshotOf(rows, canReach, clock.nowMs());
    },
  };
}

/** The list is built once for each change, because `GET /v1/models` may be called at any rate. */
function snapshotOf(rows: Rows, canReach: (provider: CatalogueProvider) => boolean, nowMs: number): Snapshot {
  const { generation, providers, aliases } = rows;
  const pricesOfModel = Map.groupBy(rows.prices, ({ model_id }) => model_id);
  const models = rows.models.map((row) => {
    const prices = pricesOfModel.get(row.model_id) ?? [];
    return modelOf(
      row,
      upstreamsOf(row.settings).map((one) => upstreamOf(one, row, { providers, prices, nowMs })),
      canReach,
    );
  });
  // Models and aliases share one map: a call resolves either with a single look-up.
  const byName = new Map(models.map((model) => [model.id, model]));
  for (const { alias, target } of aliases) {
    const model = byName.get(target);
    if (model !== undefined) byName.set(alias, model);
  }
  const list = [...byName]
    .filter(([, model]) => model.isServed)
    .map(([name, model]) => ({ name, model }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const untilMs = Math.min(...rows.prices.map(startOf).filter((startMs) => startMs > nowMs));
  return { generation, byName, list, untilMs };
}

interface Known {
  readonly providers: ReadonlyMap<string, CatalogueProvider>;
  /** The prices of the model. */
  readonly prices: readonly PriceRow[];
  readonly nowMs: number;
}

/** Joins an upstream with its provider and its price in force, and fills in what it leaves to its model. */
function upstreamOf(one: CatalogueUpstream, { settings }: ModelRow, { providers, prices, nowMs }: Known): Upstream {
  const provider = providers.get(one.provider);
  assert(provider !== undefined, 'a model has a provider');
  const own = prices.filter((row) => row.provider === one.provider && row.provider_model === one.providerModel);
  const price = priceAt(own, nowMs);
  assert(price !== undefined, 'an upstream has a price');
  return {
    providerName: one.provider,
    provider,
    providerModel: one.providerModel,
    apis: apisOf(provider, settings, one),
    isReasoning: settings.parameters?.includes('reasoning_effort') ?? false,
    price: priceOf(price, settings.searchesMax),
    outputLimitParameter:
      one.outputLimitParameter ?? settings.outputLimitParameter ?? defaultOutputLimitParameter(provider),
    // An entry may have been stored before such a model had to be drained.
    onAbandon: reasonsOutOfSight(settings) ? 'drain' : (one.onAbandon ?? settings.onAbandon ?? provider.onAbandon),
    timeoutMs: one.timeoutMs ?? settings.timeoutMs,
    firstByteMs: one.firstByteMs ?? settings.firstByteMs,
    weight: one.weight,
  };
}

/** The most tokens that a provider may make of what its entry adds to every request: a token has at least one byte (WA-07). */
function extraTokensOf({ provider }: Upstream): number {
  if (provider.kind !== 'openai-compatible' || provider.extraBody === undefined) return 0;
  return Buffer.byteLength(JSON.stringify(provider.extraBody));
}

/** Fills in defaults, so that calls need no further look-ups. Upstreams that cannot be reached from here are left out. */
function modelOf(
  { model_id, resale, is_enabled, settings }: ModelRow,
  all: readonly Upstream[],
  canReach: (provider: CatalogueProvider) => boolean,
): Model {
  const reachable = all.filter(({ provider }) => canReach(provider));
  const [first, ...others] = reachable.length === 0 ? all : reachable;
  assert(first !== undefined, 'a model has an upstream');
  return {
    id: model_id,
    upstreams: [first, ...others],
    resale,
    isServed: is_enabled && reachable.length > 0,
    contextTokens: settings.contextTokens,
    maxOutputTokens: settings.maxOutputTokens,
    defaultOutputTokens: settings.defaultOutputTokens ?? settings.maxOutputTokens,
    minOutputTokens: settings.minOutputTokens,
    promptOverheadTokens: settings.promptOverheadTokens + Math.max(...all.map(extraTokensOf)),
    imageTokensMax: settings.imageTokensMax,
    dimensionsMax: settings.dimensionsMax,
    parameters: settings.parameters === undefined ? undefined : new Set(settings.parameters),
    tokenizer: settings.tokenizer ?? 'o200k',
    timeoutMs: settings.timeoutMs,
  };
}
