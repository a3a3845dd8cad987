import type { CatalogueModel, CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Queryable } from '#db/pool.ts';

/** The fields of a model's entry that have no column of their own and are not part of its price. */
type ModelSettings = Omit<
  CatalogueModel,
  'id' | 'provider' | 'resale' | 'enabled' | 'price' | 'cacheWriteMicrosPerMillion' | 'marginBasisPoints'
>;

/** A price as it is stored. Rows are only ever added. */
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

/** A row before it is stored. Its price row is found or added then. */
export type Unpriced<Row> = Omit<Row, 'price_id'>;

/** Reads all models with their current prices. */
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

/** The digest of the file that was applied last. Undefined when there was none. */
export async function selectAppliedDigest(tx: Queryable): Promise<Buffer | undefined> {
  const { rows } = await tx.query<{ digest: Buffer }>(
    `select digest from catalogue.applied_files order by applied_id desc limit 1`,
  );
  return rows[0]?.digest;
}

export async function insertAppliedFile(tx: Queryable, digest: Buffer): Promise<void> {
  await tx.query(`insert into catalogue.applied_files (digest) values ($1)`, [digest]);
}

interface NamedRows {
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly aliases: readonly string[];
}

/** Deletes rows by name. Prices stay, because receipts refer to them. Constraints between the tables are checked at commit. */
export async function deleteRows(tx: Queryable, { providers, models, aliases }: NamedRows): Promise<void> {
  await tx.query(`delete from catalogue.aliases where alias = any($1)`, [aliases]);
  await tx.query(`delete from catalogue.models where model_id = any($1)`, [models]);
  await tx.query(`delete from catalogue.providers where name = any($1)`, [providers]);
}

/** Stores providers. One statement with JSON, because the number of rows varies and the shape is nested. */
export async function upsertProviders(tx: Queryable, providers: readonly ProviderRow[]): Promise<void> {
  await tx.query(
    `insert into catalogue.providers (name, definition)
     select name, definition from jsonb_to_recordset($1::jsonb) as p(name text, definition jsonb)
     on conflict (name) do update set definition = excluded.definition`,
    [JSON.stringify(providers)],
  );
}

/**
 * Stores models. A model keeps the newest price row of its name when the price is the same, and gets a new row otherwise. A
 * price row never changes, so a receipt can be recomputed from the row it names.
 */
export async function upsertModels(tx: Queryable, models: readonly Unpriced<ModelRow>[]): Promise<void> {
  await tx.query(
    `with asked as materialized (
       select * from jsonb_to_recordset($1::jsonb) as m(model_id text, provider text, resale text, is_enabled boolean,
         settings jsonb, input_micros_per_million bigint, cached_input_micros_per_million bigint,
         cache_write_micros_per_million bigint, output_micros_per_million bigint, margin_basis_points int)
     ), newest as (
       select distinct on (p.model_id) p.* from catalogue.prices p join asked a on a.model_id = p.model_id
       order by p.model_id, p.price_id desc
     ), same as (
       select a.model_id, n.price_id from asked a join newest n on n.model_id = a.model_id
       where (n.input_micros_per_million, n.cached_input_micros_per_million, n.cache_write_micros_per_million,
           n.output_micros_per_million, n.margin_basis_points)
         = (a.input_micros_per_million, a.cached_input_micros_per_million, a.cache_write_micros_per_million,
           a.output_micros_per_million, a.margin_basis_points)
     ), added as (
       insert into catalogue.prices (model_id, input_micros_per_million, cached_input_micros_per_million,
         cache_write_micros_per_million, output_micros_per_million, margin_basis_points)
       select a.model_id, a.input_micros_per_million, a.cached_input_micros_per_million,
         a.cache_write_micros_per_million, a.output_micros_per_million, a.margin_basis_points
       from asked a where not exists (select from same s where s.model_id = a.model_id)
       returning model_id, price_id
     )
     insert into catalogue.models (model_id, provider, resale, is_enabled, price_id, settings)
     select a.model_id, a.provider, a.resale, a.is_enabled, p.price_id, a.settings
     from asked a join (select * from same union all select * from added) p on p.model_id = a.model_id
     on conflict (model_id) do update set provider = excluded.provider, resale = excluded.resale,
       is_enabled = excluded.is_enabled, price_id = excluded.price_id, settings = excluded.settings`,
    // JSON has no bigint, and a number would lose digits beyond 2^53: amounts travel as text.
    [JSON.stringify(models, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))],
  );
}

export async function upsertAliases(
  tx: Queryable,
  aliases: readonly { readonly alias: string; readonly target: string }[],
): Promise<void> {
  await tx.query(
    `insert into catalogue.aliases (alias, target)
     select alias, target from jsonb_to_recordset($1::jsonb) as a(alias text, target text)
     on conflict (alias) do update set target = excluded.target`,
    [JSON.stringify(aliases)],
  );
}
