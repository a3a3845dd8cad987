/** A price list that cannot be had or read, or a request about it that makes no sense. The message says why. */
export class PriceListError extends Error {}
