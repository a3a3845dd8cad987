/** Millionths of a micro: prices are micros for a million tokens, so what a token costs is a whole number of these. */
export const PICOS_PER_MICRO = 1_000_000n;
/** The number of decimal places of a currency unit in picos. */
export const PICO_PLACES = 12;

/** What a provider says one model cost on one UTC day. */
export interface BillLine {
  readonly day: string;
  /** The model in the provider's words. It is undefined for costs that are of no model. */
  readonly model: string | undefined;
  /** The cost in picos of US dollars. */
  readonly cost: bigint;
  /** The number of requests. It is undefined if the format does not say. */
  readonly requests: bigint | undefined;
  readonly inputTokens: bigint | undefined;
  readonly outputTokens: bigint | undefined;
}
