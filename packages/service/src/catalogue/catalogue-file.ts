import { isDeepStrictEqual } from 'node:util';
import {
  type CatalogueFile,
  type CatalogueModel,
  type CatalogueProvider,
  catalogueSchema,
  reasonsOutOfSight,
  upstreamsOf,
} from '@purser/contract/catalogue.ts';
import { CatalogueFileError } from '#catalogue/catalogue-fault.ts';
import { refuseUnwantedPrices } from '#catalogue/unwanted-prices.ts';
import { explainIssue, issueWords } from '@purser/contract/issues.ts';
import {
  deleteRows,
  endPrices,
  insertAppliedFile,
  insertPrices,
  type ModelRow,
  selectAliases,
  selectAppliedDigest,
  selectModels,
  selectPrices,
  selectProviders,
  upsertAliases,
  upsertModels,
  upsertProviders,
} from '#catalogue/queries.ts';
import { changesOfPrices, pricesOf } from '#catalogue/price-row.ts';
import { inSnapshot, inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { bumpGeneration, selectGenerations } from '#db/processes/queries.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { equalBytes, sha256 } from '#kernel/crypto/crypto.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

export { CatalogueFileError } from '#catalogue/catalogue-fault.ts';

/** Parses a catalogue file. Throws `CatalogueFileError` unless it is a complete, consistent catalogue. */
export function parseCatalogueFile(text: string): CatalogueFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (fault) {
    const [place] = / \(line \d+ column \d+\)/.exec(String(fault)) ?? [''];
    throw new CatalogueFileError(`The catalogue is not valid JSON${place}.`);
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
export async function applyCatalogueFile(pool: Pool, text: string, nowMs = systemClock.nowMs()): Promise<boolean> {
  const file = parseCatalogueFile(text);
  const digest = sha256(text);
  return inTransaction(pool, async (tx) => {
    // First, because it is also the lock: processes that start together all apply the file, and one must win.
    await bumpGeneration(tx, 'catalogue');
    const applied = await selectAppliedDigest(tx);
    if (applied !== undefined && equalBytes(applied, digest)) return false;
    const before = await readRows(tx);
    refuseUnwantedPrices(fileOf(before), file, nowMs);
    await store(tx, before, file, nowMs);
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
  readonly models: ReadonlyMap<string, ModelRow>;
  readonly aliases: ReadonlyMap<string, string>;
}

/** Reads all rows by name. The settings of a model are its whole entry, prices included. */
async function readRows(db: Queryable): Promise<Rows> {
  const providers = await selectProviders(db);
  const models = await selectModels(db);
  const aliases = await selectAliases(db);
  return {
    providers: new Map(providers.map(({ name, definition }) => [name, definition])),
    models: new Map(models.map((row) => [row.model_id, row])),
    aliases: new Map(aliases.map(({ alias, target }) => [alias, target])),
  };
}

interface EditedCatalogue {
  readonly file: CatalogueFile;
  /** The version after the edit. If nothing changed, it is the one before, and the caller rolls back. */
  readonly version: bigint;
  readonly isChanged: boolean;
}

/** A change of the catalogue by a person. */
export interface CatalogueEdit<Refused extends Refusal> {
  /** Receives the whole catalogue and its version, and returns the new one or a refusal. */
  readonly change: (current: CatalogueFile, version: bigint) => object | Refused;
  /** Refuses a complete, consistent catalogue for other reasons. */
  readonly refuse?: (file: CatalogueFile, current: CatalogueFile) => Refused | undefined;
}

/**
 * Changes the catalogue in a transaction. Concurrent changes run one after the other, and only rows that differ are written.
 * Throws `CatalogueFileError` when the result is not a complete, consistent catalogue.
 */
export async function editCatalogue<Refused extends Refusal>(
  tx: Queryable,
  edit: CatalogueEdit<Refused>,
  nowMs = systemClock.nowMs(),
): Promise<EditedCatalogue | Refused> {
  const generation = await bumpGeneration(tx, 'catalogue'); // Also the lock, as in `applyCatalogueFile`.
  const before = await readRows(tx);
  const file = editedFile(edit, { file: fileOf(before), version: generation - 1n }, nowMs);
  if (file instanceof Refusal) return file;
  const isChanged = await store(tx, before, file, nowMs);
  if (!isChanged) return { file: fileOf(before), version: generation - 1n, isChanged };
  return { file: fileOf(await readRows(tx)), version: generation, isChanged };
}

/** What `editCatalogue` would store, with the same checks. */
export function editedFile<Refused extends Refusal>(
  { change, refuse }: CatalogueEdit<Refused>,
  current: { readonly file: CatalogueFile; readonly version: bigint },
  nowMs = systemClock.nowMs(),
): CatalogueFile | Refused {
  const edited = change(current.file, current.version);
  if (edited instanceof Refusal) return edited;
  const file = checked(edited);
  refuseUnwantedPrices(current.file, file, nowMs);
  return refuse?.(file, current.file) ?? file;
}

/** Writes the rows that differ from `before`. True when any did. */
async function store(tx: Queryable, before: Rows, file: CatalogueFile, nowMs: number): Promise<boolean> {
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
  await storePrices(tx, file, [...models.gone, ...models.put.map(([id]) => id)], nowMs);
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

/** Writes the prices of these models that differ from the stored ones. A model that is gone has none. */
async function storePrices(
  tx: Queryable,
  { models }: CatalogueFile,
  ids: readonly string[],
  nowMs: number,
): Promise<void> {
  if (ids.length === 0) return;
  const before = Map.groupBy(await selectPrices(tx), ({ model_id }) => model_id);
  const wanted = new Map(models.map((model) => [model.id, model]));
  const changes = ids.map((id) => {
    const model = wanted.get(id);
    return changesOfPrices(before.get(id) ?? [], model === undefined ? [] : pricesOf(model), nowMs);
  });
  // In this order, because each statement reads the clock: an old price that ended before the new one began would leave a gap
  // in the history.
  await insertPrices(
    tx,
    changes.flatMap(({ added }) => added),
  );
  await endPrices(
    tx,
    changes.flatMap(({ ended }) => ended),
  );
}

/** The row as the file spells it. */
function entryOf({ model_id, resale, is_enabled, settings }: ModelRow): CatalogueModel {
  return {
    id: model_id,
    resale,
    enabled: is_enabled,
    ...settings,
    // So that an entry from before this was checked stands in the way of no other change.
    ...(reasonsOutOfSight(settings) && settings.upstreams === undefined ? { onAbandon: 'drain' } : {}),
  };
}

function rowOf(model: CatalogueModel): ModelRow {
  const { id, resale, enabled, ...settings } = model;
  const [first] = upstreamsOf(model);
  return { model_id: id, provider: first?.provider ?? '', resale, is_enabled: enabled, settings };
}
