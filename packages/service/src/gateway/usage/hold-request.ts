import { ANSWER_BYTES_MAX, type ProviderCall } from '#providers/port/provider.ts';
import { ceilingOf, outputWithin } from '#catalogue/price.ts';
import type { Asked, ChatCall, PromptSize } from '#gateway/call/call.ts';
import type { Fitted } from '#gateway/call/wire.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { CallId, Mode } from '#kernel/values/ids.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { Price } from '#catalogue/price.ts';
import type { Model, Upstream } from '#catalogue/catalogue.ts';
import type { Hold } from '#gateway/call/lane.ts';

/** English prose has about four bytes a token. That is close enough for the estimate of a prompt. */
const BYTES_PER_TOKEN = 4;

/**
 * Sizes the prompt of a request as its provider gets it, so that it does not matter how the caller wrote it. The bytes that are sent
 * bound its tokens, and so does the model's context, once for each of its prompts. The estimate is of its texts alone, without the
 * signs of JSON, which no model reads. Images count by the model's figure and not by their bytes, which say nothing of their tokens.
 */
export function sizePrompt(
  model: Model,
  { characters, images, dataUrlBytes }: MeasuredPrompt,
  { requestText, native }: Asked,
  { prompts = 1, tokensBeside = 0 }: Pick<Fitted, 'prompts' | 'tokensBeside'>,
): PromptSize {
  const contextTokens = model.contextTokens * prompts;
  const innerBytes = Buffer.byteLength(requestText);
  // Of the two forms in which it may be sent, the longer one bounds it.
  const sentBytes = native === undefined ? innerBytes : Math.max(innerBytes, Buffer.byteLength(native.text));
  // JSON's own signs are ASCII, so what the bytes have more than the characters is all of the texts.
  const textBytes = characters + innerBytes - requestText.length - dataUrlBytes;
  const imageTokens = images * (model.imageTokensMax ?? 0);
  return {
    tokensMax: Math.min(
      sentBytes - dataUrlBytes + imageTokens + tokensBeside + model.promptOverheadTokens,
      contextTokens,
    ),
    tokensEstimated: Math.min(Math.ceil(textBytes / BYTES_PER_TOKEN) + imageTokens, contextTokens),
    prompts,
  };
}

/** What one walk over the prompt of a request tells of it. */
export class MeasuredPrompt {
  /** The UTF-16 code units of its names and texts. */
  characters = 0;
  images = 0;
  /** The bytes of the images that came as data URLs. */
  dataUrlBytes = 0;
  /** Something in it is called as marks for a cache are. */
  hasMarks = false;
  /** Something in it is called as the address of an image is. */
  hasImages = false;
}

/** The fields that a provider makes the prompt of. */
const PROMPT_FIELDS = ['messages', 'tools', 'response_format'];
/** A number or a word such as `true` is about one token, and a token is counted for every four characters. */
const SCALAR_CHARACTERS = 4;

/**
 * Measures the names and texts in the prompt of a request that a model takes, without the signs of JSON. With names, because providers
 * write roles, tools and schemas into the prompt, and a message costs some tokens of its own. Only adds up lengths: it is worked out for
 * each call, because a stream keeps nothing of its request. Messages must have been checked.
 */
export function measurePrompt(request: JsonObject, accepted: ReadonlySet<string>): MeasuredPrompt {
  const measured = new MeasuredPrompt();
  for (const name of PROMPT_FIELDS) if (accepted.has(name)) measureInto(measured, request[name]);
  if (measured.hasImages) measureImages(measured, request['messages'] as readonly JsonObject[]);
  return measured;
}

/** Counts the images, and the bytes of their data URLs in the body (WA-07). */
function measureImages(measured: MeasuredPrompt, messages: readonly JsonObject[]): void {
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const { type, image_url: image } of content as readonly JsonObject[]) {
      const url = type === 'image_url' && isJsonObject(image) ? image['url'] : undefined;
      if (typeof url !== 'string') continue;
      measured.images += 1;
      if (!/^http/i.test(url)) measured.dataUrlBytes += url.length;
    }
  }
}

/** Recurses as deep as a body may be nested. Plain loops, because a body may have very many members. */
function measureInto(measured: MeasuredPrompt, value: unknown): void {
  if (typeof value === 'string') measured.characters += value.length;
  else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) measureInto(measured, value[index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      if (name === 'cache_control') measured.hasMarks = true;
      else if (name === 'image_url') measured.hasImages = true;
      measured.characters += name.length;
      measureInto(measured, (value as JsonObject)[name]);
    }
  } else if (value !== undefined && value !== null) measured.characters += SCALAR_CHARACTERS;
}

/** Every hold sets at least this aside, so that none is empty and the smallest cap refuses every call (WA-07, SB-06). */
const HOLD_MIN = micros(2n);

/**
 * What the call asks of its wallet: the smallest hold worth having, at the upstream that is asked first, and the most that it can
 * cost at any. Between the two, a smaller hold means less output. `joined`: the earlier call that this one waits for already.
 */
export function holdRequestOf(call: ChatCall, joined?: CallId): HoldRequest {
  const { callId, app, userId, isStream, upstreams, outputTokensLeast, outputTokensMax, budget } = call;
  const least = ceilingFor(call, upstreams[0].price, outputTokensLeast);
  let most = least;
  for (const { price } of upstreams) {
    const ceiling = ceilingFor(call, price, outputTokensMax);
    if (ceiling > most) most = ceiling;
  }
  return {
    callId,
    appId: app.appId,
    userId,
    least: atLeastMinimum(least),
    most: atLeastMinimum(most),
    streamsMax: isStream ? app.limits.maxStreamsPerUser : 0,
    callsMax: isStream ? 0 : app.limits.maxCallsPerUser,
    idempotencyKey: call.idempotencyKey && { ...call.idempotencyKey, ...(joined && { joined }) },
    budget,
  };
}

/**
 * The most that a call can cost if each choice is limited to this output. Prompt and answer share the model's context, so a call
 * that could exceed it is dearest with the longest prompt, with the longest answer, or at the bound of a tier in between.
 */
export function ceilingFor({ model, prompt, choices }: ChatCall, price: Price, outputTokens: number): Micros {
  const { tokensMax } = prompt;
  const contextTokens = contextOf(model, prompt);
  if (tokensMax + outputTokens <= contextTokens) return ceilingOf(price, tokensMax, outputTokens * choices);
  const shortest = Math.max(0, contextTokens - outputTokens);
  const bounds = price.special?.tiers.map(({ inputTokensMax }) => inputTokensMax) ?? [];
  const between = [...bounds, ...bounds.map((bound) => bound + 1)].filter(
    (tokens) => tokens > shortest && tokens < tokensMax,
  );
  let most = ZERO_MICROS;
  for (const promptTokens of [shortest, ...between, tokensMax]) {
    const output = Math.min(outputTokens, contextTokens - promptTokens);
    const ceiling = ceilingOf(price, promptTokens, output * choices);
    if (ceiling > most) most = ceiling;
  }
  return most;
}

/** What all prompts of a call and their answers may have together. */
function contextOf({ contextTokens }: Model, { prompts }: PromptSize): number {
  return contextTokens * prompts;
}

function atLeastMinimum(amount: Micros): Micros {
  return amount > HOLD_MIN ? amount : HOLD_MIN;
}

/** The output limit of each choice that a hold affords at the first upstream. It is sent to the provider (WA-07). */
export function outputTokensWithin(call: ChatCall, granted: Micros): number {
  const { model, upstreams, outputTokensMax, choices, prompt } = call;
  const { price } = upstreams[0];
  let output = Math.floor(outputWithin(price, prompt.tokensMax, outputTokensMax * choices, granted) / choices);
  if (prompt.tokensMax + outputTokensMax <= contextOf(model, prompt)) return output;
  // A longer answer leaves less of the context to the prompt, which may cost less: at most 24 steps.
  for (let above = outputTokensMax; output < above; ) {
    const middle = Math.ceil((output + above) / 2);
    if (ceilingFor(call, price, middle) <= granted) output = middle;
    else above = middle - 1;
  }
  return output;
}

/**
 * Whether a hold covers the call at this upstream with the output limit that the first one was sent. It may not, because another
 * upstream may be dearer, and the limit is that of the first (CC-16).
 */
export function isCovered(call: ChatCall, { price }: Upstream, { granted, outputTokens }: Granted): boolean {
  return ceilingFor(call, price, outputTokens) <= granted;
}

interface Granted {
  readonly granted: Micros;
  readonly outputTokens: number;
}

/** A try of a call at one upstream. */
interface Try {
  /** Tells the provider of the try's span. */
  readonly headers?: ProviderCall['headers'];
  readonly upstream: Upstream;
  readonly outputTokens: number;
  readonly timeoutMs: number;
}

/** The provider's call, with its output limited to what the granted hold pays for (WA-07). */
export function providerCallOf(asked: Asked, { upstream, outputTokens, timeoutMs, headers }: Try): ProviderCall {
  const { providerModel, apis, isReasoning, outputLimitParameter } = upstream;
  return { ...asked, providerModel, apis, isReasoning, outputTokens, outputLimitParameter, timeoutMs, headers };
}

/** What a hold pays for, over all choices. The provider was told not to exceed it (WA-07). */
export interface OutputLimit {
  readonly tokens: number;
  /** No honest answer of that many tokens has more bytes. */
  readonly bytesMax: number;
}

/**
 * Without the model's own tokenizer we can only count bytes. The bound must be one that no honest answer reaches, because
 * reaching it charges the whole hold. Prose has about four bytes a token, and a CJK character three bytes in one or two
 * tokens. Runs of spaces, dashes or line ends pack most into a token: vocabularies have long ones.
 */
const BYTES_PER_TOKEN_MAX = 128;
/** The bytes for data beside the output: citations, sealed reasoning, and the same reasoning under a second name. */
const BYTES_BESIDE_MAX = 16 * 1024;

export function outputLimitOf({ call, granted }: Pick<Hold<Mode>, 'call' | 'granted'>): OutputLimit {
  return outputLimitFor(call, outputTokensWithin(call, granted));
}

/** Returns the output limit of all choices if that of each choice is known. */
export function outputLimitFor({ choices }: ChatCall, outputTokens: number): OutputLimit {
  const tokens = outputTokens * choices;
  return { tokens, bytesMax: tokens * BYTES_PER_TOKEN_MAX + BYTES_BESIDE_MAX };
}

/** The bytes for the head of an answer, its usage and the frame of each choice. */
const BESIDE_BYTES = 64 * 1024;
/**
 * The bytes for the text of a token in an answer. An emoji written as escapes has 12 bytes, and some providers send
 * reasoning twice.
 */
const TEXT_BYTES = 32;
/** A token in `logprobs`, of its own or in `top_logprobs`. Indented, as some providers write JSON, each of its bytes has a line. */
const LISTED_BYTES = 384;

/**
 * The tokens that each choice of a plain answer may have, so that an honest answer is not too large to be taken. The provider would
 * bill such an answer, and nobody could read all of it.
 */
export function outputTokensDeliverable(request: JsonObject, choices: number): number {
  const listed = request['logprobs'] === true ? 1 + Number(request['top_logprobs'] ?? 0) : 0;
  return Math.floor((ANSWER_BYTES_MAX - BESIDE_BYTES) / (choices * (TEXT_BYTES + listed * LISTED_BYTES)));
}
