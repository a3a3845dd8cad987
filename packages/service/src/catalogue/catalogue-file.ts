import { type CatalogueFile, type CatalogueModel, catalogueSchema } from '@purser/contract/catalogue.ts';
import {
  deleteAll,
  insertAliases,
  insertAppliedFile,
  insertModels,
  insertProviders,
  type ModelRow,
  type NewModel,
  selectAliases,
  selectAppliedDigest,
  selectModels,
  selectProviders,
} from '#catalogue/queries.ts';
import { inSnapshot, inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { bumpGeneration, selectGenerations } from '#db/queries.ts';
import { equalBytes, sha256 } from '#kernel/crypto.ts';
import { Refusal } from '#kernel/refusal.ts';

interface CatalogueFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A catalogue file that cannot be used: the message lists every fault with its place. */
export class CatalogueFileError extends Error {
  /** None where the text is not even JSON. */
  readonly faults: readonly CatalogueFault[];

  constructor(message: string, faults: readonly CatalogueFault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** Reads a catalogue file's text. Throws `CatalogueFileError` for anything but a complete, consistent catalogue. */
export function parseCatalogueFile(text: string): CatalogueFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CatalogueFileError('The catalogue is not valid JSON.');
  }
  return checked(value);
}

function checked(value: unknown): CatalogueFile {
  const parsed = catalogueSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const lines = issues.map((issue) => `  ${issue.path.join('.') || '(root)'}: ${issue.message}`);
  throw new CatalogueFileError(`The catalogue has faults:\n${lines.join('\n')}`, issues);
}

/**
 * Makes a file the catalogue, whole, unless it is the one that was applied last: then the operator's later changes
 * stand. True when it was applied. In force on every process within a second; calls that run keep what they began with.
 */
export async function applyCatalogueFile(pool: Pool, text: string): Promise<boolean> {
  const file = parseCatalogueFile(text);
  const digest = sha256(text);
  return inTransaction(pool, async (tx) => {
    await bumpGeneration(tx, 'catalogue'); // First: it is also the lock that keeps two files from being applied at once.
    const applied = await selectAppliedDigest(tx);
    if (applied !== undefined && equalBytes(applied, digest)) return false;
    await store(tx, file);
    await insertAppliedFile(tx, digest);
    return true;
  });
}

/** The catalogue as it is, in the shape of the file. `version`: how often it has changed. */
export function readCatalogue(pool: Pool): Promise<{ readonly file: CatalogueFile; readonly version: bigint }> {
  return inSnapshot(pool, async (tx) => {
    const version = (await selectGenerations(tx)).get('catalogue') ?? 0n;
    return { file: await readCatalogueFile(tx), version };
  });
}

async function readCatalogueFile(db: Queryable): Promise<CatalogueFile> {
  const providers = await selectProviders(db);
  const models = await selectModels(db);
  const aliases = await selectAliases(db);
  return {
    providers: Object.fromEntries(providers.map(({ name, definition }) => [name, definition])),
    models: models.map(entryOf),
    aliases: Object.fromEntries(aliases.map(({ alias, target }) => [alias, target])),
  };
}

/**
 * Changes the catalogue in a transaction: `edit` gets it as it is, whole, with its version, and gives it as it shall be,
 * or a refusal. Two changes come one after the other. Throws `CatalogueFileError` for what would be no complete,
 * consistent catalogue.
 */
export async function editCatalogue<Refused extends Refusal>(
  tx: Queryable,
  edit: (current: CatalogueFile, version: bigint) => object | Refused,
): Promise<CatalogueFile | Refused> {
  const generation = await bumpGeneration(tx, 'catalogue'); // Also the lock, as above.
  const edited = edit(await readCatalogueFile(tx), generation - 1n);
  if (edited instanceof Refusal) return edited;
  await store(tx, checked(edited));
  return readCatalogueFile(tx);
}

/** A handful of statements, whatever the size: edits wait for one another while it runs. */
async function store(tx: Queryable, file: CatalogueFile): Promise<void> {
  await deleteAll(tx);
  await insertProviders(tx, file.providers);
  await insertModels(tx, file.models.map(newModelOf));
  await insertAliases(tx, file.aliases);
}

function newModelOf(entry: CatalogueModel): NewModel {
  const { id, provider, resale, enabled, price, cacheWriteMicrosPerMillion, marginBasisPoints, ...settings } = entry;
  return { model: { id, provider, resale, enabled }, price: priceRowOf(entry), settings };
}

function entryOf(row: ModelRow): CatalogueModel {
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
  };
}

function priceRowOf({ price, cacheWriteMicrosPerMillion, marginBasisPoints }: CatalogueModel) {
  const input = BigInt(price?.inputMicrosPerMillion ?? 0);
  return {
    input_micros_per_million: input,
    cached_input_micros_per_million: BigInt(price?.cachedInputMicrosPerMillion ?? input),
    cache_write_micros_per_million: BigInt(cacheWriteMicrosPerMillion ?? input),
    output_micros_per_million: BigInt(price?.outputMicrosPerMillion ?? 0),
    margin_basis_points: marginBasisPoints,
  };
}
