import type { TextRun } from '@purser/text-runs/text-run.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Signal } from '#kernel/signal.ts';

/** A model vendor's service, as the gateway calls it. Each call is one upstream request; there are no retries and redirects. */
export interface Provider {
  /** Returns a whole completion within `timeoutMs`. Nothing else ends the request early. Throws `UpstreamError`. */
  readonly complete: (call: ProviderCall) => Promise<JsonObject>;
  /** Opens a stream. Resolves when the provider has accepted the call. Aborting `signal` ends the request. */
  readonly stream: (call: ProviderCall, signal: Signal) => Promise<ChunkSource>;
}

/** The chunks of a stream. `first` and `rest` reject with `UpstreamError`, also after a silence of `timeoutMs`. */
export interface ChunkSource {
  /** The chunks of the first read that has any; undefined if the stream ends without a chunk. */
  readonly first: () => Promise<readonly StreamChunk[] | undefined>;
  /** Hands over the later chunks as they arrive. Resolves when the stream is complete, or when `take` wants no more. */
  readonly rest: (take: TakeChunks) => Promise<void>;
  /** The stream is complete: the provider has sent `[DONE]`, or the body has ended. */
  readonly isWhole: () => boolean;
}

/** Takes the chunks of one read. Resolves to whether it wants more; until then nothing else is handed over. */
export type TakeChunks = (chunks: readonly StreamChunk[]) => boolean | Promise<boolean>;

/** A parsed chunk of a stream, or a run of chunks that needed no parsing. */
export type StreamChunk = JsonObject | TextRun;

export interface ProviderCall {
  /** The caller's request, validated. */
  readonly request: JsonObject;
  /** The request as JSON, without the members that the gateway decides: model, output limit and stream. */
  readonly requestText: string;
  readonly providerModel: string;
  /** The limit for the output of each choice. */
  readonly outputTokens: number;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly timeoutMs: number;
}

/**
 * `throttled`: the provider is overloaded, or limits our calls.
 * `rejected`: it refused this request (its 400, 404, 422), and would refuse it again.
 * `refused`: it refused the call for another reason, or responded with an error.
 * `timeout`: it did not respond in time. `outage`: it failed, or could not be reached.
 * `malformed`: its response cannot be a completion. `cut`: its response ended early.
 * `unsent`: we gave up before the provider had received any of the request. `given-up`: we gave up later.
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

/** A provider's failure. The message is always ours: it never holds a provider's text (ER-03). */
export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind;

  constructor(kind: UpstreamErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
