import type { Upstream } from '#catalogue/catalogue.ts';

/** Which upstream a call is at. It may change until the first chunk or the whole answer has come. */
export interface Serving {
  /** The upstream that is asked now, or was asked last. */
  readonly upstream: Upstream;
}

/** The same with the number of requests that were sent. */
export interface Served extends Serving {
  readonly tries: number;
}
