import type { Upstream } from '#catalogue/catalogue.ts';

/** Which upstream a call is at. It may change until the first chunk or the whole answer has come. */
export interface Serving {
  /** The upstream that is asked now, or was asked last. */
  readonly upstream: Upstream;
}

/** What became of it so far. */
export interface Served extends Serving {
  /** How many requests were sent. 0 in the sandbox, which has no providers. */
  readonly tries: number;
  /** The whole answer has come, or the first chunks of a stream: the upstream will not change any more. */
  readonly isAnswered: boolean;
}
