import { isDeepStrictEqual } from 'node:util';
import {
  type CatalogueFile,
  type CatalogueModel,
  type CatalogueProvider,
  catalogueSchema,
  reasonsOutOfSight,
} from '@purser/contract/catalogue.ts';
import { explainIssue, issueWords } from '@purser/contract/issues.ts';
import {
  deleteRows,
  insertAppliedFile,
  type ModelRow,
  selectAliases,
  selectAppliedDigest,
  selectModels,
  selectProviders,
  type Unpriced,
  upsertAliases,
  upsertModels,
  upsertProviders,
} from '#catalogue/queries.ts';
import { inSnapshot, inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { bumpGeneration, selectGenerations } from '#db/queries.ts';
import { equalBytes, sha256 } from '#kernel/crypto.ts';
import { Refusal } from '#kernel/refusal.ts';

interface CatalogueFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A catalogue file that cannot be used. The message lists every fault with its place, so that one edit can fix them all. */
export class CatalogueFileError extends Error {
  /** Empty when the text is not even JSON. */
  readonly faults: readonly CatalogueFault[];

  constructor(message: string, faults: readonly CatalogueFault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** Parses a catalogue file. Throws `CatalogueFileError` unless it is a complete, consistent catalogue. */
export function parseCatalogueFile(text: string): CatalogueFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CatalogueFileError('The catalogue is not valid JSON.');
  }
  return checked(value);
}

/** Validates a catalogue. All issues are reported together, each with its path. */
function checked(value: unknown): CatalogueFile {
  const parsed = catalogueSchema.safeParse(value, { error: issueWords, reportInput: true });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const lines = issues.map(explainIssue).map(({ steps, words }) => `  ${steps.join('.') || '(root)'}: ${words}`);
  throw new CatalogueFileError(`The catalogue has faults:\n${lines.join('\n')}`, issues);
}

/**
 * Replaces the whole catalogue with a file, unless this very file was applied last. In that case changes that operators made
 * since then stay: a restart must not undo them. True when it was applied. In force on every process within a second;
 * running calls keep the model and price they began with.
 */
export async function applyCatalogueFile(pool: Pool, text: string): Promise<boolean> {
  const file = parseCatalogueFile(text);
  const digest = sha256(text);
  return inTransaction(pool, async (tx) => {
    // First, because it is also the lock: processes that start together all apply the file, and one must win.
    await bumpGeneration(tx, 'catalogue');
    const applied = await selectAppliedDigest(tx);
    if (applied !== undefined && equalBytes(applied, digest)) return false;
    await store(tx, await readRows(tx), file);
    await insertAppliedFile(tx, digest);
    return true;
  });
}

/** Reads the catalogue in the shape of the file. `version` counts its changes. One snapshot, so the parts fit together. */
export function readCatalogue(pool: Pool): Promise<{ readonly file: CatalogueFile; readonly version: bigint }> {
  return inSnapshot(pool, async (tx) => {
    const version = (await selectGenerations(tx)).get('catalogue') ?? 0n;
    return { file: fileOf(await readRows(tx)), version };
  });
}

interface Rows {
  readonly providers: ReadonlyMap<string, CatalogueProvider>;
  readonly models: ReadonlyMap<string, Unpriced<ModelRow>>;
  readonly aliases: ReadonlyMap<string, string>;
}

/** Reads all rows by name. Price ids are left out: two rows with the same price are the same entry. */
async function readRows(db: Queryable): Promise<Rows> {
  const providers = await selectProviders(db);
  const models = await selectModels(db);
  const aliases = await selectAliases(db);
  return {
    providers: new Map(providers.map(({ name, definition }) => [name, definition])),
    models: new Map(models.map(({ price_id: _price, ...row }) => [row.model_id, row])),
    aliases: new Map(aliases.map(({ alias, target }) => [alias, target])),
  };
}

/**
 * Changes the catalogue in a transaction. `edit` receives the whole catalogue and its version, and returns the new one or a
 * refusal. Concurrent changes run one after the other, and only rows that differ are written. Throws `CatalogueFileError`
 * when the result is not a complete, consistent catalogue.
 */
export async function editCatalogue<Refused extends Refusal>(
  tx: Queryable,
  edit: (current: CatalogueFile, version: bigint) => object | Refused,
): Promise<{ readonly file: CatalogueFile; readonly isChanged: boolean } | Refused> {
  const generation = await bumpGeneration(tx, 'catalogue'); // Also the lock, as in `applyCatalogueFile`.
  const before = await readRows(tx);
  const edited = edit(fileOf(before), generation - 1n);
  if (edited instanceof Refusal) return edited;
  const isChanged = await store(tx, before, checked(edited));
  return { file: fileOf(isChanged ? await readRows(tx) : before), isChanged };
}

/** Writes the rows that differ from `before`. True when any did. */
async function store(tx: Queryable, before: Rows, file: CatalogueFile): Promise<boolean> {
  const providers = changesOf(before.providers, new Map(Object.entries(file.providers)));
  const models = changesOf(before.models, new Map(file.models.map((model) => [model.id, rowOf(model)])));
  const aliases = changesOf(before.aliases, new Map(Object.entries(file.aliases)));
  const all = [providers, models, aliases];
  if (all.every(({ gone, put }) => gone.length === 0 && put.length === 0)) return false;
  // The order does not matter: the constraints between the tables are deferred to the commit.
  await deleteRows(tx, { providers: providers.gone, models: models.gone, aliases: aliases.gone });
  await upsertProviders(
    tx,
    providers.put.map(([name, definition]) => ({ name, definition })),
  );
  await upsertModels(
    tx,
    models.put.map(([, row]) => row),
  );
  await upsertAliases(
    tx,
    aliases.put.map(([alias, target]) => ({ alias, target })),
  );
  return true;
}

/** The names that are gone, and the entries that are new or changed. */
function changesOf<Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>) {
  return {
    gone: [...before.keys()].filter((name) => !after.has(name)),
    put: [...after].filter(([name, value]) => !isDeepStrictEqual(before.get(name), value)),
  };
}

function fileOf({ providers, models, aliases }: Rows): CatalogueFile {
  return {
    providers: Object.fromEntries(providers),
    models: [...models.values()].map(entryOf),
    aliases: Object.fromEntries(aliases),
  };
}

/** The row as the file spells it. Prices are below 2^53, so the conversion to numbers is exact. */
function entryOf(row: Unpriced<ModelRow>): CatalogueModel {
  return {
    id: row.model_id,
    provider: row.provider,
    resale: row.resale,
    enabled: row.is_enabled,
    price: {
      inputMicrosPerMillion: Number(row.input_micros_per_million),
      cachedInputMicrosPerMillion: Number(row.cached_input_micros_per_million),
      outputMicrosPerMillion: Number(row.output_micros_per_million),
    },
    cacheWriteMicrosPerMillion: Number(row.cache_write_micros_per_million),
    marginBasisPoints: row.margin_basis_points,
    ...row.settings,
    // So that an entry from before this was checked stands in the way of no other change.
    ...(reasonsOutOfSight(row.settings) ? { onAbandon: 'drain' } : {}),
  };
}

/** Fills in the defaults: cached input and cache writes cost as much as input unless the file says otherwise. */
function rowOf(model: CatalogueModel): Unpriced<ModelRow> {
  const { id, provider, resale, enabled, price, cacheWriteMicrosPerMillion, marginBasisPoints, ...settings } = model;
  const input = BigInt(price?.inputMicrosPerMillion ?? 0);
  return {
    model_id: id,
    provider,
    resale,
    is_enabled: enabled,
    settings,
    input_micros_per_million: input,
    cached_input_micros_per_million: BigInt(price?.cachedInputMicrosPerMillion ?? input),
    cache_write_micros_per_million: BigInt(cacheWriteMicrosPerMillion ?? input),
    output_micros_per_million: BigInt(price?.outputMicrosPerMillion ?? 0),
    margin_basis_points: marginBasisPoints,
  };
}
