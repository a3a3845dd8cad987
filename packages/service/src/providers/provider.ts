import type { TextRun } from '@purser/text-runs/text-run.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Signal } from '#kernel/signal.ts';

/** A model vendor's service, as the gateway uses it. One upstream request a call, never retried, redirects not followed. */
export interface Provider {
  /** One whole completion, within `timeoutMs` in all; nothing else ends it early. Throws `UpstreamError`. */
  readonly complete: (call: ProviderCall) => Promise<JsonObject>;
  /** Opens a stream: resolves when the provider has accepted the call. `signal` ends the request. */
  readonly stream: (call: ProviderCall, signal: Signal) => Promise<ChunkSource>;
}

/** The chunks of a stream. Both ways of waiting for them reject with an `UpstreamError`, also where it is silent for `timeoutMs`. */
export interface ChunkSource {
  /** Those that come first, together; undefined where it ends without one. */
  readonly first: () => Promise<readonly StreamChunk[] | undefined>;
  /** Hands over what comes after that, as it comes. Resolves when the provider says that it is done, or when no more is wanted. */
  readonly rest: (take: TakeChunks) => Promise<void>;
  /** All that is to come has come. */
  readonly isWhole: () => boolean;
}

/** Takes the chunks of one read and says whether more are wanted: nothing is handed over before it has. */
export type TakeChunks = (chunks: readonly StreamChunk[]) => boolean | Promise<boolean>;

/** A parsed chunk of a stream, or a run of chunks that needed no parsing. */
export type StreamChunk = JsonObject | TextRun;

export interface ProviderCall {
  /** The caller's request, validated. */
  readonly request: JsonObject;
  /** A JSON object: the same without what is ours to decide, model, limit and stream. */
  readonly requestText: string;
  readonly providerModel: string;
  /** Sent as the limit of what each choice may generate. */
  readonly outputTokens: number;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly timeoutMs: number;
}

/**
 * `rejected`: it refused this request (its 400, 404, 422), and would again. `refused`: it refused the call for another
 * reason, or answered with an error. `malformed`: it answered what cannot be an answer. `cut`: it ended before the end.
 * `unsent`: given up by us before the provider had any of it. `given-up`: by us as well, but later.
 */
export type UpstreamErrorKind =
  | 'throttled'
  | 'rejected'
  | 'refused'
  | 'timeout'
  | 'outage'
  | 'malformed'
  | 'cut'
  | 'unsent'
  | 'given-up';

/** A provider's failure. Its message is ours: a provider's own text never gets in (ER-03). */
export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind;

  constructor(kind: UpstreamErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
