import type { ErrorBody } from '@purser/contract/errors.ts';
import type { TextRun } from '@purser/text-runs/text-run.ts';
import type { AppId, CallId, EndUserId, Mode } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Chunk, ChunkChoice, Completion } from '#providers/port/completion.ts';
import type { Api } from '#providers/port/provider.ts';

/**
 * How a caller speaks (WI-01). A wire reads a request into the form of chat completions, which everything between the wires works
 * with, and writes answers, streams and errors in its own words. Nothing else of a call depends on it.
 */
export interface Wire {
  readonly name: Api;
  /** Where it is served. */
  readonly path: string;
  /** Whether its bodies may be as large as the setting says. The others end at the 1 MiB of CC-06. */
  readonly takesLargeBodies: boolean;
  /** Checks the form of a body and reads it. A refusal names a field as the caller wrote it. */
  readonly read: (body: JsonObject, by: AskedBy) => WireRequest | Refusal<'BAD_REQUEST'>;
  /** A refusal in the words that clients of this wire show to their users. */
  readonly worded: (refusal: Refusal) => Refusal;
  /** The body of an error, where clients of this wire read another one than the envelope. It has all of the envelope in it. */
  readonly errorOf?: (envelope: ErrorBody) => JsonObject;
  /** Whether its clients send their key in `x-api-key`. */
  readonly takesKeyHeader?: boolean;
  /** Where the tokens of a prompt are counted without a call, and the wire that reads such a body. */
  readonly counting?: Pick<Wire, 'path' | 'read'>;
}

/** Who asks. What a wire seals for its caller is bound to them. */
export interface AskedBy {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly mode: Mode;
  /** The name that the client gives itself. */
  readonly userAgent: string | undefined;
  /** The version of the interface that the client speaks, and names of what is new in it, for wires whose vendor has those. */
  readonly version?: string | undefined;
  readonly betas?: string | undefined;
}

/** A request whose form has been checked. */
export interface WireRequest {
  /** The name of a model, as the caller wrote it. */
  readonly model: string;
  readonly isStream: boolean;
  /** The text by which a repeat without a key is found (CC-14), if a repeat may differ in bytes. Undefined: the body itself. */
  readonly joinsBy?: () => string;
  /** Returns what is asked, once it is known what the model takes. */
  readonly fit: (supports: ModelSupport) => Fitted | Refusal<'BAD_REQUEST'>;
  /** The caller's name for a path in the form of chat completions. It is '' for a parameter that the wire has no word for. */
  readonly nameOf: (path: string) => string;
  readonly reply: Reply;
}

/** What a model takes beside the messages. */
export interface ModelSupport {
  /** Whether it takes a parameter of chat completions, and any of its upstreams the value, if one is given. */
  readonly parameter: (name: string, value?: unknown) => boolean;
  /** Whether each of its upstreams speaks the wire, and so is sent the caller's own form. */
  readonly ownForm: boolean;
  /** Whether any of them does. */
  readonly hasOwnForm: boolean;
  /** Whether each of its upstreams can search the web, at a price that is known. */
  readonly webSearch: boolean;
  /** The most searches that a hold covers. Undefined where none is offered. */
  readonly searchesMax?: number | undefined;
  /** The most that prompt and answer can have together, in tokens. */
  readonly contextTokens: number;
  /** The most numbers of a vector, for a model of embeddings. */
  readonly dimensionsMax?: number | undefined;
}

export interface Fitted {
  /** The request as one of chat completions. */
  readonly request: JsonObject;
  /**
   * The request as the caller wrote it, for upstreams that speak the wire: without model, output limit, stream and what names the
   * payer. Undefined on the wire of chat completions, whose own form `request` is.
   */
  readonly native?: JsonObject | undefined;
  /** Headers of the caller that go with their own form. */
  readonly nativeHeaders?: Readonly<Record<string, string>> | undefined;
  /** Tokens that a vendor may make of their own form beyond its bytes. */
  readonly tokensBeside?: number | undefined;
  /** How many prompts it holds, each with a context of its own. Undefined: it is one. */
  readonly prompts?: number | undefined;
  /** What was left out because the model cannot do it. A header of the answer says so. */
  readonly leftOut: readonly string[];
}

/** What a reply knows of its call. */
export interface ReplyCall {
  readonly callId: CallId;
  readonly model: { readonly id: string };
  /** How many tokens it may say, by its caller or its model. */
  readonly outputTokensAsked: number;
  /** The caller asked for the usage of a stream (CC-12). */
  readonly wantsUsage: boolean;
  /** Our guess at the prompt, for wires that tell its size before the answer. */
  readonly prompt: { readonly tokensEstimated: number };
}

/** A call whose output is limited to fewer tokens than it asked for. */
export interface LoweredCall extends Pick<ReplyCall, 'model' | 'outputTokensAsked'> {
  /** What it could have if money were no matter. */
  readonly outputTokensMax: number;
}

/** Writes the answer of one call. It is kept for as long as a stream is open, so it holds nothing large of the request. */
export interface Reply {
  /** The whole answer. */
  readonly plain: (call: ReplyCall, completion: Completion, usage: ToldUsage) => JsonObject;
  readonly stream: (call: ReplyCall) => StreamReply;
  /**
   * Refuses a call whose output is limited to fewer tokens than it asked for, on a wire whose clients pay for several calls when they
   * reach such a limit. Without it, the call goes on.
   */
  readonly refusalOfLowered?: (call: LoweredCall, outputTokens: number) => Refusal<'BAD_REQUEST'>;
  /** The last frames of a stream that was charged, also of one that was kept for a retry. */
  readonly endFrames: (end: StreamEnd, charged: Micros) => string;
}

/** The usage that a caller is told: what was charged. */
export interface ToldUsage {
  /** Whether the provider has reported any. */
  readonly isReported: boolean;
  /** The usage in the form of chat completions. */
  readonly usage: JsonObject;
  /** The tokens that were written to a cache for longer than usual, which that form has no word for. None if left out. */
  readonly cacheWriteLong?: number | undefined;
}

/** Writes one stream. It is asked in the order in which the frames are sent. */
export interface StreamReply {
  /** The frames that tell a waiting caller that the call is alive. */
  readonly alive: () => string;
  /** The frames of a chunk. */
  readonly write: (chunk: Chunk) => string;
  /** The frames of a text run, in one string; undefined if its chunks must be taken one by one. */
  readonly writeRun: (run: TextRun<Chunk>) => string | undefined;
  /** The frames that end choices which are still open, with the reason "length". */
  readonly cut: (open: readonly ChunkChoice[]) => string;
  /** What the last frames are made of. It is known before the settlement says what the call is charged. */
  readonly end: (usage: () => ToldUsage) => StreamEnd;
  /** The last frame of a stream that failed after it had begun (ER-06). */
  readonly fail: (envelope: ErrorBody) => string;
}

/** The end of a stream, as JSON: an answer that is kept for a retry is kept with it. */
export interface StreamEnd extends JsonObject {
  readonly callId: CallId;
}
