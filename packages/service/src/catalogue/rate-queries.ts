import type { Queryable } from '#db/pool/pool.ts';

/** What a provider asks at one price, without the margin. Micros for a million tokens. */
export interface PriceRates {
  readonly price_id: bigint;
  readonly model_id: string;
  readonly provider: string | null;
  readonly provider_model: string | null;
  readonly input_micros_per_million: bigint;
  readonly cached_input_micros_per_million: bigint;
  readonly cache_write_micros_per_million: bigint;
  readonly output_micros_per_million: bigint;
  /** It has tiers, fees or other kinds of token besides. */
  readonly has_details: boolean;
}

export async function selectRates(db: Queryable, priceIds: readonly bigint[]): Promise<readonly PriceRates[]> {
  const { rows } = await db.query<PriceRates>(
    `select price_id, model_id, provider, provider_model, input_micros_per_million, cached_input_micros_per_million,
       cache_write_micros_per_million, output_micros_per_million, details is not null as has_details
     from catalogue.prices where price_id = any ($1::bigint[])`,
    [priceIds],
  );
  return rows;
}
