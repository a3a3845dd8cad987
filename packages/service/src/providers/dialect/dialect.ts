import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { FinishReason, TokenCounts } from '#providers/port/completion.ts';
import type { ProviderCall, UpstreamErrorKind } from '#providers/port/provider.ts';
import type { Framing, VendorFetch } from '#providers/transport/vendor-fetch.ts';

/** A vendor's failure, as its library reports it. The texts are read to tell failures apart, and go nowhere (ER-03). */
export interface VendorFailure {
  /** The HTTP status. It is undefined for an error in a stream that names none. */
  readonly status: number | undefined;
  /** The vendor's own word for it, such as `overloaded_error`. */
  readonly code: string | undefined;
  /** The vendor's sentence. Only for failures that vendors tell apart by nothing else. */
  readonly text: string;
}

interface ModelOptions {
  readonly providerModel: string;
  readonly fetch: VendorFetch;
  /** The key. It is undefined if the provider has none, but signs its requests or gets tokens in another way. */
  readonly key: VendorKey | undefined;
}

export interface VendorKey {
  readonly text: string;
  /** It is sent as `authorization: Bearer`, even if the vendor takes keys in another header. */
  readonly isToken: boolean;
}

/** What one family of vendors adds to the shared translation between the compatible format and V4 of `@ai-sdk/provider`. */
export interface Dialect {
  readonly kind: string;
  readonly framing: Framing;
  /** An event of a stream may have a picture in it, and be as long as a plain answer with one. */
  readonly hasPictures?: boolean;
  /** Makes the model of one call. It costs microseconds, and the `fetch` belongs to the call. */
  readonly modelOf: (options: ModelOptions) => LanguageModelV4 | Promise<LanguageModelV4>;
  /** Options beside messages, tools and the output limit, which are the same for all. */
  readonly settingsOf: (call: ProviderCall) => CallSettings;
  /** The output limit in the body that goes out. It must not exceed the call's, because that is what the hold pays for (WA-07). */
  readonly limitInBody: (body: JsonObject) => unknown;
  /** What `cache_control` of a part, a message or a tool becomes. */
  readonly cacheOptions: (mark: JsonObject) => SharedV4ProviderOptions;
  readonly reasoning: ReasoningWords;
  /** What the vendor wants back with a tool call, as Gemini does its signatures. Undefined if there is nothing. */
  readonly toolCall?: {
    readonly optionsOf: (call: JsonObject) => SharedV4ProviderOptions | undefined;
    readonly fieldsOf: (metadata: SharedV4ProviderMetadata) => JsonObject | undefined;
  };
  /** Every count that the vendor reported. It looks into `raw` where V4 leaves one out. */
  readonly countsOf: (usage: LanguageModelV4Usage) => TokenCounts;
  /** The vendor does not bill this answer at all. */
  readonly isUnbilled?: (usage: LanguageModelV4Usage) => boolean;
  /** The reason for a vendor's word that V4 does not unify; undefined for a word that means a failure. */
  readonly finishReasonOf: (raw: string) => FinishReason | undefined;
  /** What a failure means by the vendor's own codes. If it is undefined, the status decides, as for every vendor. */
  readonly failureKindOf: (failure: VendorFailure) => UpstreamErrorKind | undefined;
  /** The vendor's code in the parsed body and headers of a failed response. */
  readonly codeOf: (body: unknown, headers: Readonly<Record<string, string>>) => string | undefined;
  /** The seconds that a failed response asks us to wait, for vendors that say it in the body. */
  readonly retryDelayOf?: (body: unknown) => number | undefined;
}

/** How a vendor's signed or sealed reasoning stands in an item of `reasoning_details`. */
interface ReasoningWords {
  /** The `format` of the items, by which an answer of another vendor is recognised. */
  readonly format: string;
  /** The fields `signature` and `data` of an item, from what came with a piece of reasoning. */
  readonly fieldsOf: (metadata: SharedV4ProviderMetadata) => SealFields | undefined;
  readonly optionsOf: (seal: SealFields) => SharedV4ProviderOptions;
}

export interface SealFields {
  readonly signature?: string;
  /** The reasoning, which only the vendor can read. */
  readonly data?: string;
}

export type CallSettings = Partial<
  Pick<
    LanguageModelV4CallOptions,
    | 'maxOutputTokens'
    | 'temperature'
    | 'topP'
    | 'presencePenalty'
    | 'frequencyPenalty'
    | 'seed'
    | 'stopSequences'
    | 'reasoning'
    | 'responseFormat'
    | 'providerOptions'
    | 'tools'
    | 'toolChoice'
  >
> & {
  /** A tool that stands for a JSON schema: what it is called with is the answer's text. */
  readonly answerTool?: string;
};
