import type { ProviderCall } from '#providers/port/provider.ts';
import { ceilingOf, outputWithin } from '#catalogue/price.ts';
import type { Asked, ChatCall, PromptSize } from '#gateway/call/call.ts';
import type { Fitted } from '#gateway/call/wire.ts';
import { promptCharactersOf } from '#gateway/usage/prompt-characters.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';
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
  { images, dataUrlBytes }: ImageSize,
  { request, requestText, native }: Asked,
  { prompts = 1, tokensBeside = 0 }: Pick<Fitted, 'prompts' | 'tokensBeside'> = {},
): PromptSize {
  const contextTokens = model.contextTokens * prompts;
  const innerBytes = Buffer.byteLength(requestText);
  // Of the two forms in which it may be sent, the longer one bounds it.
  const sentBytes = native === undefined ? innerBytes : Math.max(innerBytes, Buffer.byteLength(native.text));
  // JSON's own signs are ASCII, so what the bytes have more than the characters is all of the texts.
  const textBytes = promptCharactersOf(request) + innerBytes - requestText.length - dataUrlBytes;
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

interface ImageSize {
  readonly images: number;
  /** The bytes of the images that came as data URLs. */
  readonly dataUrlBytes: number;
}

/** Every hold sets at least this aside, so that none is empty and the smallest cap refuses every call (WA-07, SB-06). */
const HOLD_MIN = micros(2n);

/**
 * What the call asks of its wallet: the smallest hold worth having, at the upstream that is asked first, and the most that it can
 * cost at any. Between the two, a smaller hold means less output. `joined`: the earlier call that this one waits for already.
 */
export function holdRequestOf(call: ChatCall, joined?: CallId): HoldRequest {
  const { callId, app, userId, upstreams, outputTokensLeast, outputTokensMax, budget } = call;
  const least = ceilingFor(call, upstreams[0].price, outputTokensLeast);
  let most = least;
  for (const { price } of upstreams) {
    const ceiling = ceilingFor(call, price, outputTokensMax);
    if (ceiling > most) most = ceiling;
  }
  const streamsMax = call.isStream ? app.limits.maxStreamsPerUser : 0;
  const callsMax = call.isStream ? 0 : app.limits.maxCallsPerUser;
  const idempotencyKey = call.idempotencyKey && { ...call.idempotencyKey, ...(joined && { joined }) };
  const range = { least: atLeastMinimum(least), most: atLeastMinimum(most) };
  return { callId, appId: app.appId, userId, ...range, streamsMax, callsMax, idempotencyKey, budget };
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
