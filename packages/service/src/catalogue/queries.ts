import type { CatalogueFile, CatalogueModel, CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Queryable } from '#db/pool.ts';

/** The part of a model's entry that is neither a column nor a price. */
type ModelSettings = Omit<
  CatalogueModel,
  'id' | 'provider' | 'resale' | 'enabled' | 'price' | 'cacheWriteMicrosPerMillion' | 'marginBasisPoints'
>;

interface PriceRow {
  readonly input_micros_per_million: bigint;
  readonly cached_input_micros_per_million: bigint;
  readonly cache_write_micros_per_million: bigint;
  readonly output_micros_per_million: bigint;
  readonly margin_basis_points: number;
}

export interface ModelRow extends PriceRow {
  readonly model_id: string;
  readonly provider: string;
  readonly resale: 'open' | 'reserved';
  readonly is_enabled: boolean;
  readonly settings: ModelSettings;
  readonly price_id: bigint;
}

export async function selectModels(db: Queryable): Promise<readonly ModelRow[]> {
  const { rows } = await db.query<ModelRow>(
    `select m.model_id, m.provider, m.resale, m.is_enabled, m.settings, p.price_id, p.input_micros_per_million,
       p.cached_input_micros_per_million, p.cache_write_micros_per_million, p.output_micros_per_million,
       p.margin_basis_points
     from catalogue.models m join catalogue.prices p on p.price_id = m.price_id
     order by m.model_id`,
  );
  return rows;
}

interface ProviderRow {
  readonly name: string;
  readonly definition: CatalogueProvider;
}

export async function selectProviders(db: Queryable): Promise<readonly ProviderRow[]> {
  const { rows } = await db.query<ProviderRow>(`select name, definition from catalogue.providers`);
  return rows;
}

export async function selectAliases(db: Queryable): Promise<readonly { alias: string; target: string }[]> {
  const { rows } = await db.query<{ alias: string; target: string }>(
    `select alias, target from catalogue.aliases order by alias`,
  );
  return rows;
}

/** The digest of the file that was applied last, or undefined where none was. */
export async function selectAppliedDigest(tx: Queryable): Promise<Buffer | undefined> {
  const { rows } = await tx.query<{ digest: Buffer }>(
    `select digest from catalogue.applied_files order by applied_id desc limit 1`,
  );
  return rows[0]?.digest;
}

export async function insertAppliedFile(tx: Queryable, digest: Buffer): Promise<void> {
  await tx.query(`insert into catalogue.applied_files (digest) values ($1)`, [digest]);
}

/** Empties aliases, models and providers; prices stay. The constraints between them are checked at commit. */
export async function deleteAll(tx: Queryable): Promise<void> {
  await tx.query(`delete from catalogue.aliases`);
  await tx.query(`delete from catalogue.models`);
  await tx.query(`delete from catalogue.providers`);
}

export async function insertProvider(tx: Queryable, name: string, definition: CatalogueProvider): Promise<void> {
  await tx.query(`insert into catalogue.providers (name, definition) values ($1, $2)`, [name, definition]);
}

/** Gives the newest price row of a model where it says the same, else adds one. */
export async function ensurePrice(tx: Queryable, modelId: string, price: PriceRow): Promise<bigint> {
  const values = [
    modelId,
    price.input_micros_per_million,
    price.cached_input_micros_per_million,
    price.cache_write_micros_per_million,
    price.output_micros_per_million,
    price.margin_basis_points,
  ];
  const { rows } = await tx.query<{ price_id: bigint }>(
    `with newest as (
       select * from catalogue.prices where model_id = $1 order by price_id desc limit 1
     ), same as (
       select price_id from newest
       where (input_micros_per_million, cached_input_micros_per_million, cache_write_micros_per_million,
         output_micros_per_million, margin_basis_points) = ($2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::int)
     ), added as (
       insert into catalogue.prices (model_id, input_micros_per_million, cached_input_micros_per_million,
         cache_write_micros_per_million, output_micros_per_million, margin_basis_points)
       select $1, $2, $3, $4, $5, $6 where not exists (select from same)
       returning price_id
     )
     select price_id from same union all select price_id from added`,
    values,
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`The price of ${modelId} could not be stored.`);
  return row.price_id;
}

export async function insertModel(
  tx: Queryable,
  model: Pick<CatalogueModel, 'id' | 'provider' | 'resale' | 'enabled'>,
  priceId: bigint,
  settings: ModelSettings,
): Promise<void> {
  await tx.query(
    `insert into catalogue.models (model_id, provider, resale, is_enabled, price_id, settings)
     values ($1, $2, $3, $4, $5, $6)`,
    [model.id, model.provider, model.resale, model.enabled, priceId, settings],
  );
}

export async function insertAliases(tx: Queryable, aliases: CatalogueFile['aliases']): Promise<void> {
  for (const [alias, target] of Object.entries(aliases)) {
    await tx.query(`insert into catalogue.aliases (alias, target) values ($1, $2)`, [alias, target]);
  }
}
