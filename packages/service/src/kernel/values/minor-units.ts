/**
 * How many decimals a currency is written with: those of its minor unit in ISO 4217 (amendment 179). Currencies that are not listed have
 * two. The data of a runtime are no source: they follow what people use, and change with its version (Hungarian forints have none there).
 */
const DECIMALS: Readonly<Record<string, number>> = {
  ...ofAll('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 0),
  ...ofAll('BHD IQD JOD KWD LYD OMR TND', 3),
  ...ofAll('CLF UYW', 4),
};
const DECIMALS_ELSEWHERE = 2;

function ofAll(currencies: string, decimals: number): Readonly<Record<string, number>> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, decimals]));
}

/** The decimals of the smallest coin of a currency. */
export function minorDecimalsOf(currency: string): number {
  return DECIMALS[currency] ?? DECIMALS_ELSEWHERE;
}
