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

export async function insertProviders(tx: Queryable, providers: CatalogueFile['providers']): Promise<void> {
  await tx.query(`insert into catalogue.providers (name, definition) select * from unnest($1::text[], $2::jsonb[])`, [
    Object.keys(providers),
    Object.values(providers).map((definition) => JSON.stringify(definition)),
  ]);
}

export interface NewModel {
  readonly model: Pick<CatalogueModel, 'id' | 'provider' | 'resale' | 'enabled'>;
  readonly price: PriceRow;
  readonly settings: ModelSettings;
}

/**
 * Inserts all entries at once, each with the newest price row of its model where that says the same, else with one that
 * is added.
 */
export async function insertModels(tx: Queryable, models: readonly NewModel[]): Promise<void> {
  await tx.query(
    `with asked as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::jsonb[], $6::bigint[], $7::bigint[],
         $8::bigint[], $9::bigint[], $10::int[])
         as q (model_id, provider, resale, is_enabled, settings, input, cached_input, cache_write, output, margin)
     ), newest as (
       select distinct on (model_id) p.* from catalogue.prices p join asked using (model_id)
       order by model_id, price_id desc
     ), same as (
       select model_id, n.price_id from newest n join asked a using (model_id)
       where (n.input_micros_per_million, n.cached_input_micros_per_million, n.cache_write_micros_per_million,
         n.output_micros_per_million, n.margin_basis_points) = (a.input, a.cached_input, a.cache_write, a.output, a.margin)
     ), added as (
       insert into catalogue.prices (model_id, input_micros_per_million, cached_input_micros_per_million,
         cache_write_micros_per_million, output_micros_per_million, margin_basis_points)
       select model_id, input, cached_input, cache_write, output, margin from asked
       where model_id not in (select model_id from same)
       returning model_id, price_id
     )
     insert into catalogue.models (model_id, provider, resale, is_enabled, price_id, settings)
     select model_id, a.provider, a.resale, a.is_enabled, p.price_id, a.settings
     from asked a join (select * from same union all select * from added) p using (model_id)`,
    [
      models.map(({ model }) => model.id),
      models.map(({ model }) => model.provider),
      models.map(({ model }) => model.resale),
      models.map(({ model }) => model.enabled),
      models.map(({ settings }) => JSON.stringify(settings)),
      models.map(({ price }) => price.input_micros_per_million),
      models.map(({ price }) => price.cached_input_micros_per_million),
      models.map(({ price }) => price.cache_write_micros_per_million),
      models.map(({ price }) => price.output_micros_per_million),
      models.map(({ price }) => price.margin_basis_points),
    ],
  );
}

export async function insertAliases(tx: Queryable, aliases: CatalogueFile['aliases']): Promise<void> {
  await tx.query(`insert into catalogue.aliases (alias, target) select * from unnest($1::text[], $2::text[])`, [
    Object.keys(aliases),
    Object.values(aliases),
  ]);
}
