/** What each settled pair charges. */
export const PAIR_PRICE_MICROS = 91;
