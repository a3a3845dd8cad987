import type { CatalogueModel, CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { NewPrice, PriceRow } from '#catalogue/price-row.ts';
import type { Queryable } from '#db/pool/pool.ts';

/** The fields of a model's entry that have no column of their own. */
type ModelSettings = Omit<CatalogueModel, 'id' | 'resale' | 'enabled'>;

export interface ModelRow {
  readonly model_id: string;
  /** The first of those who serve the model. */
  readonly provider: string;
  readonly resale: 'open' | 'reserved';
  readonly is_enabled: boolean;
  readonly settings: ModelSettings;
}

export async function selectModels(db: Queryable): Promise<readonly ModelRow[]> {
  const { rows } = await db.query<ModelRow>(
    `select model_id, provider, resale, is_enabled, settings from catalogue.models order by model_id`,
  );
  return rows;
}

/** Reads the prices that the catalogue names: in force, superseded by a later one, or to come. */
export async function selectPrices(db: Queryable): Promise<readonly PriceRow[]> {
  const { rows } = await db.query<PriceRow>(
    `select p.price_id, p.model_id, p.provider, p.provider_model,
       (extract(epoch from p.effective_from) * 1000)::float8 as effective_from_ms, p.input_micros_per_million,
       p.cached_input_micros_per_million, p.cache_write_micros_per_million, p.output_micros_per_million,
       p.margin_basis_points, p.margin_micros_per_call, p.details
     from catalogue.prices p
     where not exists (select from catalogue.price_ends e where e.price_id = p.price_id)
     order by p.price_id`,
  );
  return rows;
}

/** A price row, with when it was added and when the catalogue stopped naming it. */
export interface PriceHistoryRow extends Omit<PriceRow, 'provider' | 'provider_model'> {
  readonly provider: string | null;
  readonly provider_model: string | null;
  readonly since_ms: number;
  readonly ended_ms: number | null;
}

/** Reads every price that a model ever had, the newest first. */
export async function selectPriceHistory(
  db: Queryable,
  modelId: string,
  most: number,
): Promise<readonly PriceHistoryRow[]> {
  const { rows } = await db.query<PriceHistoryRow>(
    `select p.price_id, p.model_id, p.provider, p.provider_model,
       (extract(epoch from p.effective_from) * 1000)::float8 as effective_from_ms, p.input_micros_per_million,
       p.cached_input_micros_per_million, p.cache_write_micros_per_million, p.output_micros_per_million,
       p.margin_basis_points, p.margin_micros_per_call, p.details,
       (extract(epoch from p.since) * 1000)::float8 as since_ms, (extract(epoch from e.ended_at) * 1000)::float8 as ended_ms
     from catalogue.prices p left join catalogue.price_ends e on e.price_id = p.price_id
     where p.model_id = $1 order by p.price_id desc limit $2`,
    [modelId, most],
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

/** Notes that the catalogue names these prices no longer. Price rows never change, so a receipt can be recomputed from its row. */
export async function endPrices(tx: Queryable, prices: readonly bigint[]): Promise<void> {
  await tx.query(`insert into catalogue.price_ends (price_id) select unnest($1::bigint[])`, [prices]);
}

export async function insertPrices(tx: Queryable, prices: readonly NewPrice[]): Promise<void> {
  await tx.query(
    `insert into catalogue.prices (model_id, provider, provider_model, effective_from, input_micros_per_million,
       cached_input_micros_per_million, cache_write_micros_per_million, output_micros_per_million, margin_basis_points,
       margin_micros_per_call, details)
     select p.model_id, p.provider, p.provider_model, to_timestamp(p.effective_from_ms / 1000), p.input_micros_per_million,
       p.cached_input_micros_per_million, p.cache_write_micros_per_million, p.output_micros_per_million,
       p.margin_basis_points, p.margin_micros_per_call, p.details
     from jsonb_to_recordset($1::jsonb) as p(model_id text, provider text, provider_model text,
       effective_from_ms float8, input_micros_per_million bigint, cached_input_micros_per_million bigint,
       cache_write_micros_per_million bigint, output_micros_per_million bigint, margin_basis_points int,
       margin_micros_per_call bigint, details jsonb)`,
    // JSON has no bigint, and a number would lose digits beyond 2^53: amounts travel as text.
    [JSON.stringify(prices, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))],
  );
}

/** Stores models, whose prices are stored already. A model names the first price of its first upstream, so it has one (MO-06). */
export async function upsertModels(tx: Queryable, models: readonly ModelRow[]): Promise<void> {
  await tx.query(
    `insert into catalogue.models (model_id, provider, resale, is_enabled, price_id, settings)
     select m.model_id, m.provider, m.resale, m.is_enabled, (
         select p.price_id from catalogue.prices p
         where p.model_id = m.model_id and p.provider = m.provider
           and p.provider_model = coalesce(m.settings->>'providerModel', m.settings->'upstreams'->0->>'providerModel')
           and not exists (select from catalogue.price_ends e where e.price_id = p.price_id)
         order by p.effective_from nulls first limit 1
       ), m.settings
     from jsonb_to_recordset($1::jsonb) as m(model_id text, provider text, resale text, is_enabled boolean, settings jsonb)
     on conflict (model_id) do update set provider = excluded.provider, resale = excluded.resale,
       is_enabled = excluded.is_enabled, price_id = excluded.price_id, settings = excluded.settings`,
    [JSON.stringify(models)],
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

/** A catalogue that an operator has sent and not applied. */
interface DraftRow {
  readonly draft_id: string;
  readonly file: object;
  readonly base_version: bigint | null;
  readonly report: string;
}

/** Keeps a draft, and forgets those that are older than a day. */
export async function insertDraft(db: Queryable, { draft_id, file, base_version, report }: DraftRow): Promise<void> {
  await db.query(
    `with old as (delete from catalogue.drafts where created_at < clock_timestamp() - interval '1 day')
     insert into catalogue.drafts (draft_id, file, base_version, report) values ($1, $2, $3, $4)`,
    [draft_id, JSON.stringify(file), base_version, report],
  );
}

export async function selectDraft(db: Queryable, draftId: string): Promise<DraftRow | undefined> {
  const { rows } = await db.query<DraftRow>(
    `select draft_id, file, base_version, report from catalogue.drafts
     where draft_id = $1 and created_at > clock_timestamp() - interval '1 day'`,
    [draftId],
  );
  return rows[0];
}

export async function deleteDraft(db: Queryable, draftId: string): Promise<void> {
  await db.query(`delete from catalogue.drafts where draft_id = $1`, [draftId]);
}

/** Models that are on sale and have no price now, and when prices last changed. */
export async function selectPriceState(
  db: Queryable,
  most: number,
): Promise<{
  readonly models: number;
  readonly unpriced: readonly string[];
  /** The seconds since prices last changed. They are null if there is no price yet. */
  readonly changed_seconds: number | null;
}> {
  const { rows } = await db.query<{ models: number; unpriced: readonly string[]; changed_seconds: number | null }>(
    `select (select count(*)::int from catalogue.models where is_enabled) as models,
       (select coalesce(json_agg(model_id), '[]') from (
         select model_id from catalogue.models m where is_enabled and not exists (
           select from catalogue.prices p where p.model_id = m.model_id
             and (p.effective_from is null or p.effective_from <= clock_timestamp())
             and not exists (select from catalogue.price_ends e where e.price_id = p.price_id))
         order by model_id limit $1) as bare) as unpriced,
       (select extract(epoch from clock_timestamp() - max(since))::float8 from catalogue.prices) as changed_seconds`,
    [most],
  );
  return rows[0] ?? { models: 0, unpriced: [], changed_seconds: null };
}
