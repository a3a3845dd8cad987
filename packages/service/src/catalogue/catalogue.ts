import { type CatalogueProvider, reasonsOutOfSight, type Tokenizer } from '@purser/contract/catalogue.ts';
import type { Price } from '#catalogue/price.ts';
import { type ModelRow, selectAliases, selectModels, selectProviders } from '#catalogue/queries.ts';
import { inSnapshot, type Pool } from '#db/pool.ts';
import { selectGenerations } from '#db/queries.ts';
import { assert } from '#kernel/assert.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** A model as a call uses it. Immutable: a call keeps the one it began with, price included (MO-05). */
export interface Model {
  /** The resolved identifier: what answers and receipts carry, never an alias (CC-02). */
  readonly id: string;
  /** Who serves it. A call prefers the first. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly resale: 'open' | 'reserved';
  /** True when the model is enabled and this process has what it needs to call its provider. */
  readonly isServed: boolean;
  readonly maxOutputTokens: number;
  readonly defaultOutputTokens: number;
  readonly minOutputTokens: number;
  readonly promptOverheadTokens: number;
  /** Undefined means that images are refused: without a bound on their tokens, no hold could cover them. */
  readonly imageTokensMax: number | undefined;
  /** Undefined means every parameter that the gateway knows. */
  readonly parameters: ReadonlySet<string> | undefined;
  readonly tokenizer: Tokenizer;
  /** How long a call may take until it is answered, over all upstreams that are asked. */
  readonly timeoutMs: number;
}

/** A model as one provider serves it. Immutable, like its model. */
export interface Upstream {
  /** The catalogue's name of the provider. */
  readonly providerName: string;
  readonly provider: CatalogueProvider;
  /** The provider's own name of the model. */
  readonly providerModel: string;
  /** What a call costs that this upstream has served. */
  readonly price: Price;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly onAbandon: 'cancel' | 'drain';
  readonly timeoutMs: number;
  /** Its share of the calls. Undefined: it is asked in its place in the order. */
  readonly weight: number | undefined;
  /** How long a stream may take until its first chunk, if another upstream can be asked then. */
  readonly firstByteMs: number | undefined;
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
}

/** True when the app may call the model. Reserved models are for the operator's own apps (MO-04). */
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

/**
 * Keeps the catalogue in memory, so that a call reads nothing. Empty until the first `refresh`. `canReach` says whether a
 * provider can be used from here: a provider whose key is not set cannot, and its models count as disabled.
 */
export function createCatalogue(pool: Pool, canReach: (provider: CatalogueProvider) => boolean): Catalogue {
  let snapshot: Snapshot = { generation: 0n, byName: new Map(), list: [] };
  return {
    find: (name) => snapshot.byName.get(name),
    list: () => snapshot.list,
    refresh: async () => {
      const read = await inSnapshot(pool, async (tx) => {
        const generation = (await selectGenerations(tx)).get('catalogue') ?? 0n;
        const providers = new Map((await selectProviders(tx)).map(({ name, definition }) => [name, definition]));
        const models = (await selectModels(tx)).map((row) => modelOf(row, providers.get(row.provider), canReach));
        return { generation, ...snapshotOf(models, await selectAliases(tx)) };
      });
      if (read.generation >= snapshot.generation) snapshot = read;
    },
  };
}

/** The list is built once for each change, because `GET /v1/models` may be called at any rate. */
function snapshotOf(
  models: readonly Model[],
  aliases: readonly { readonly alias: string; readonly target: string }[],
): Omit<Snapshot, 'generation'> {
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
  return { byName, list };
}

/** Joins a row with its provider and fills in defaults, so that calls need no further look-ups. */
function modelOf(
  row: ModelRow,
  provider: CatalogueProvider | undefined,
  canReach: (provider: CatalogueProvider) => boolean,
): Model {
  assert(provider !== undefined, 'a model has a provider');
  const { settings } = row;
  return {
    id: row.model_id,
    upstreams: [
      {
        providerName: row.provider,
        provider,
        providerModel: settings.providerModel,
        price: {
          priceId: row.price_id,
          inputMicrosPerMillion: row.input_micros_per_million,
          cachedInputMicrosPerMillion: row.cached_input_micros_per_million,
          cacheWriteMicrosPerMillion: row.cache_write_micros_per_million,
          outputMicrosPerMillion: row.output_micros_per_million,
          marginBasisPoints: BigInt(row.margin_basis_points),
        },
        outputLimitParameter: settings.outputLimitParameter,
        // An entry may have been stored before such a model had to be drained.
        onAbandon: reasonsOutOfSight(settings) ? 'drain' : (settings.onAbandon ?? provider.onAbandon),
        timeoutMs: settings.timeoutMs,
        weight: undefined,
        firstByteMs: undefined,
      },
    ],
    resale: row.resale,
    isServed: row.is_enabled && canReach(provider),
    maxOutputTokens: settings.maxOutputTokens,
    defaultOutputTokens: settings.defaultOutputTokens ?? settings.maxOutputTokens,
    minOutputTokens: settings.minOutputTokens,
    promptOverheadTokens: settings.promptOverheadTokens,
    imageTokensMax: settings.imageTokensMax,
    parameters: settings.parameters === undefined ? undefined : new Set(settings.parameters),
    tokenizer: settings.tokenizer ?? 'o200k',
    timeoutMs: settings.timeoutMs,
  };
}
