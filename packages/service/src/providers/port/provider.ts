import type { TextRun } from '@purser/text-runs/text-run.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Signal } from '#kernel/work/signal.ts';
import type { Chunk, Completion } from '#providers/port/completion.ts';

/**
 * A model vendor's service, as the gateway uses it. An adapter speaks the vendor's format and gives the types of
 * `completion.ts`. It sends one upstream request for each call, because the provider may bill a second one as well.
 */
export interface Provider {
  /** Returns the whole completion within `timeoutMs`. Nothing else ends it early. Throws `UpstreamError`. */
  readonly complete: (call: ProviderCall) => Promise<Completion>;
  /** Opens a stream. Resolves when the provider has accepted the call; throws `UpstreamError`. `signal` ends the request. */
  readonly stream: (call: ProviderCall, signal: Signal) => Promise<ChunkSource>;
  /** Counts the prompt of a call in its caller's own form, for vendors who do so at no cost. Throws `UpstreamError`. */
  readonly countPrompt?: (call: ProviderCall) => Promise<number | undefined>;
}

/** The chunks of a stream. `first` and `rest` reject with an `UpstreamError`, for example after a silence of `timeoutMs`. */
export interface ChunkSource {
  /** The chunks of the first read that has any; undefined if the stream ends without one. */
  readonly first: () => Promise<readonly StreamChunk[] | undefined>;
  /** Hands over later chunks as they come. Resolves when the provider says that it is done, or when no more are wanted. */
  readonly rest: (take: TakeChunks) => Promise<void>;
  /** Returns true once nothing more can come. */
  readonly isWhole: () => boolean;
}

/** Takes the chunks of one read and says whether more are wanted. The next read waits for the answer: that is back-pressure. */
export type TakeChunks = (chunks: readonly StreamChunk[]) => boolean | Promise<boolean>;

/** One chunk, or a run of chunks that were not parsed because only their text is new. */
export type StreamChunk = Chunk | TextRun<Chunk>;

/** The interfaces that a vendor may serve: how calls are written, and answers. */
export type Api = 'chat' | 'responses' | 'messages' | 'embeddings';

/** A call as its caller wrote it, for a provider that serves the caller's own interface. */
export interface NativeCall {
  readonly api: Api;
  /** The request as JSON, without the members that the gateway decides: model, output limit and stream. */
  readonly text: string;
  /** The caller's own headers that the interface has. They name nobody. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ProviderCall {
  /** The caller's request, validated, in the compatible format: an adapter of another format translates it. */
  readonly request: JsonObject;
  /** The request as JSON, without the members that the gateway decides: model, output limit and stream. */
  readonly requestText: string;
  readonly providerModel: string;
  /** Which interfaces the upstream serves for this model. Undefined: chat completions. */
  readonly apis?: readonly Api[] | undefined;
  /** The model reasons, so that it is asked for what it thought in a form to send back. */
  readonly isReasoning?: boolean | undefined;
  /** The caller's own request. It is undefined if they speak chat completions. */
  readonly native?: NativeCall | undefined;
  /** The limit for the output of each choice. */
  readonly outputTokens: number;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly timeoutMs: number;
  /** Headers of this call alone, which tell the provider of its trace. Only the compatible format sends them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The kinds mean: `throttled`: the provider is overloaded, or limits our calls. `too-long`: the prompt, or the prompt
 * with the output limit, does not fit the model's context. `rejected`: it refused this request (its 400, 404, 422) for
 * another reason, and would refuse it again. `unauthorized`: it refused our key, or our account may not call this
 * model. `refused`: it refused the call for another reason, or responded with an error. `timeout`: it did not respond
 * in time. `outage`: it failed, or could not be reached. `malformed`: its response cannot be a completion. `too-large`:
 * a chunk is too large, or an answer has too many items, so we give up on it. `cut`: its response ended early. `unsent`: we gave up before the provider
 * had received any of the request. `given-up`: we gave up later.
 */
export type UpstreamErrorKind =
  | 'throttled'
  | 'too-long'
  | 'rejected'
  | 'unauthorized'
  | 'refused'
  | 'timeout'
  | 'outage'
  | 'malformed'
  | 'too-large'
  | 'cut'
  | 'unsent'
  | 'given-up';

/** A plain answer is cut here. The gateway asks for no answer that can be longer (`gateway/usage/hold-request.ts`). */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

interface UpstreamErrorOptions extends ErrorOptions {
  /** The provider's HTTP status. */
  readonly status?: number | undefined;
  /** How long the provider asks us to wait, in seconds, as it said: unbounded. */
  readonly retryAfterSeconds?: number | undefined;
  /** Tells whether the operator's own `limits` of the provider throttled the call. The provider was not asked then. */
  readonly isOwnLimit?: boolean | undefined;
}

/** A provider's failure. The message is always ours: it never holds a provider's text (ER-03). */
export class UpstreamError extends Error {
  /** The log has no stack of it. */
  readonly isOutside = true;
  readonly kind: UpstreamErrorKind;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isOwnLimit: boolean;

  constructor(kind: UpstreamErrorKind, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isOwnLimit = options.isOwnLimit === true;
  }
}
