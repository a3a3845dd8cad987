import type { Upstream } from '#catalogue/catalogue.ts';
import type { UpstreamErrorKind } from '#providers/port/provider.ts';

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
  /** When the latest request was sent, by the clock of `CallTimes`. 0 if none was. */
  readonly sentMs: number;
  /** The requests that failed, in their order. Undefined if none did. */
  readonly failedTries: readonly FailedTry[] | undefined;
}

/** A request that was sent and failed before the first chunk or the whole answer had come. */
export interface FailedTry {
  readonly upstream: Upstream;
  /** Its place among the requests of its call, from 1. */
  readonly count: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly kind: UpstreamErrorKind | '_OTHER';
  /** The provider's HTTP status, if it sent one. */
  readonly status: number | undefined;
}
