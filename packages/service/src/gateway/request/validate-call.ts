import { IDEMPOTENCY_KEY } from '@purser/contract/identifiers.ts';
import type { IdempotencyDigests, IdempotencyKey, RepeatableCall } from '#idempotency/idempotency-key.ts';
import { type Catalogue, isAmong, isEntitled, type Model, notEntitled, notOfKey } from '#catalogue/catalogue.ts';
import type { AskingCall, ChatCall } from '#gateway/call/call.ts';
import type { Fitted, Wire, WireRequest } from '#gateway/call/wire.ts';
import {
  measurePrompt,
  type MeasuredPrompt,
  outputTokensDeliverable,
  sizePrompt,
} from '#gateway/usage/hold-request.ts';
import { withoutUnpricedMarks } from '#gateway/request/cache-marks.ts';
import { findMessageFault } from '#gateway/parameters/messages.ts';
import type { Pseudonyms } from '#gateway/request/pseudonyms.ts';
import { misshapen, shownOf } from '#gateway/body/parse-body.ts';
import {
  acceptedBy,
  ALL_OF_THE_FORMAT,
  findMisuse,
  findUnaccepted,
  KNOWN_PARAMETERS,
  passOn,
} from '#gateway/parameters/parameters.ts';
import { adviceOn, findOtherEndpoint } from '#gateway/parameters/refused.ts';
import { findBadVendorValue, thinkingBudgetOf } from '#gateway/parameters/vendor.ts';
import { type CorrelationId, type EndUserId, newCallId } from '#kernel/values/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Caller } from '#developers/keys/directory.ts';
import { findUnsupported, speaks, type Unsupported } from '#providers/capabilities/capabilities.ts';
import type { NativeCall } from '#providers/port/provider.ts';

/** Checks the form of the request: model, messages, known parameters, their values. The order is that of CC-10. */
export function checkShape(request: JsonObject): Refusal<'BAD_REQUEST'> | undefined {
  const { model } = request;
  if (typeof model !== 'string' || model === '') {
    return refuse('BAD_REQUEST', '`model` must be the name of a model: see `GET /v1/models`.', { param: 'model' });
  }
  const { messages } = request;
  const elsewhere = messages === undefined ? findOtherEndpoint(request) : undefined;
  if (elsewhere !== undefined) return unaccepted(elsewhere, KNOWN_PARAMETERS, String);
  const fault = findMessageFault(messages);
  if (fault !== undefined) return misshapen(fault);
  const misuse = findMisuse(request);
  if (misuse === undefined) return undefined;
  return typeof misuse === 'string' ? unaccepted(misuse, KNOWN_PARAMETERS, String) : misshapen(misuse);
}

/** Finds the served model of a name. A refusal repeats what was sent, and never what an alias points at (CC-04). */
export function resolveModel(catalogue: Catalogue, name: string): Model | Refusal<'BAD_REQUEST'> {
  const model = catalogue.find(name);
  if (model?.isServed === true) return model;
  return refuse('BAD_REQUEST', `The model \`${shownOf(name)}\` is not served here: see \`GET /v1/models\`.`, {
    param: 'model',
  });
}

/** Refuses a model that this app may not call (CC-05). */
export function checkEntitlement(
  caller: Caller,
  model: Model,
  name: string,
): Refusal<'MODEL_NOT_ENTITLED'> | undefined {
  return isEntitled(caller.app, model) ? undefined : notEntitled(shownOf(name));
}

/** Refuses a model that is not among those of the API key (CP-08). */
export function checkModelsOfKey(
  catalogue: Catalogue,
  { key }: Caller,
  model: Model,
  name: string,
): Refusal<'MODEL_NOT_ENTITLED'> | undefined {
  return key.models === null || isAmong(catalogue, key.models, model) ? undefined : notOfKey(shownOf(name), key.models);
}

/** Refuses parameters that the gateway knows but this model does not take, and values of its vendor's own parameters. */
export function checkModelParameters(
  request: JsonObject,
  model: Model,
  { nameOf, measured }: { readonly nameOf: WireRequest['nameOf']; readonly measured: MeasuredPrompt },
): Refusal<'BAD_REQUEST'> | undefined {
  const accepted = acceptedBy(model.parameters);
  const name = findUnaccepted(request, accepted);
  if (name !== undefined) return unaccepted(name, accepted, nameOf);
  const bad = hasVendorParameters(accepted)
    ? findBadVendorValue(request, outputTokensAskedOf(request, model))
    : undefined;
  if (bad !== undefined) return misshapen(bad);
  if (model.imageTokensMax === undefined && measured.images > 0) {
    return refuse('BAD_REQUEST', 'This model takes no images: its catalogue entry gives them no price.', {
      param: 'messages',
    });
  }
  return undefined;
}

/** Only a model with a list of its own takes parameters of vendors. */
function hasVendorParameters(accepted: ReadonlySet<string>): boolean {
  return accepted !== KNOWN_PARAMETERS;
}

/** Finds the upstreams that can be sent all of the request. If none can, the refusal says what the first one lacks (MO-09). */
export function findEligible(
  { request, native = {} }: Fitted,
  { upstreams }: Model,
  wire: Wire['name'],
): ChatCall['upstreams'] | Refusal<'BAD_REQUEST'> {
  let found: Unsupported | undefined;
  const sent = wire === 'embeddings' ? native : request;
  for (const upstream of upstreams) found ??= findUnsupported(upstream, sent, wire);
  if (found === undefined) return upstreams;
  const [first, ...others] = upstreams.filter((upstream) => findUnsupported(upstream, sent, wire) === undefined);
  return first === undefined ? refuseUnsupported(found) : [first, ...others];
}

function refuseUnsupported({ path, advice }: Unsupported): Refusal<'BAD_REQUEST'> {
  const shown = shownOf(path); // It may end with a name that the caller chose.
  return refuse('BAD_REQUEST', `This model does not take \`${shown}\`. ${advice}`, { param: shown });
}

/** What says that a call may be retried, or is a retry. */
export interface RetryMarks {
  readonly idempotencyKey: string | undefined;
  /** The number of the retry. Stock clients count their retries from 0 and send no key. */
  readonly retryCount: string | undefined;
  /** A setting of the API key. It joins calls with the same body (CC-14). */
  readonly joinSeconds: number | null;
}

/**
 * Reads the idempotency key of a call. Undefined if no later call can be a retry of it: such a call pays nothing for
 * retries.
 */
export function parseIdempotencyKey(
  digests: IdempotencyDigests,
  { idempotencyKey: key, retryCount, joinSeconds }: RetryMarks,
  call: RepeatableCall & { readonly isStream: boolean; readonly body: () => Buffer | string },
): IdempotencyKey | undefined | Refusal<'BAD_REQUEST'> {
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key)) {
    return refuse('BAD_REQUEST', 'The header `idempotency-key` must be 1 to 255 visible ASCII characters.', {
      param: 'idempotency-key',
    });
  }
  // No client marks the repeat of a stream that has begun, so only a key tells it from a new call. Recording all would cost each.
  const isUnmarked = key === undefined && joinSeconds === null;
  if (isUnmarked && (retryCount === undefined || call.isStream)) return undefined;
  return digests.keyOf(call, { key, joins: Number(retryCount) > 0, joinSeconds }, call.body());
}

interface CallContext {
  readonly wire: Wire['name'];
  readonly asking: Pick<WireRequest, 'isStream' | 'reply'>;
  readonly caller: Caller;
  readonly userId: EndUserId;
  readonly correlationId: CorrelationId;
  readonly span: ChatCall['span'];
  readonly session: ChatCall['session'];
  readonly pseudonyms: Pseudonyms;
  readonly upstreams: ChatCall['upstreams'];
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** The prompt of the request. */
  readonly measured: MeasuredPrompt;
}

/** Makes the call of a request that passed every check above. */
export function callOf(fitted: Fitted, model: Model, context: CallContext): AskingCall {
  const { request, leftOut } = fitted;
  const { isStream, reply } = context.asking;
  const accepted = acceptedBy(model.parameters);
  const pseudonymised = namedAnew(request, model, context);
  // Marks are rare, and most requests are not looked through for them once more.
  const marked = context.measured.hasMarks ? withoutUnpricedMarks(request, context.upstreams) : request;
  const measured = marked === request ? context.measured : measurePrompt(marked, accepted);
  const native = nativeOf(fitted, pseudonymised, context);
  const asked = passOn(marked, accepted, { ours: pseudonymised, native });
  const options = request['stream_options'];
  const outputTokens = outputTokensAskedOf(request, model);
  const choices = wholeOf(request['n']) ?? 1;
  const thoughtTokens = hasVendorParameters(accepted) ? thinkingBudgetOf(request) : 0;
  const outputTokensMax = isStream ? outputTokens : Math.min(outputTokens, outputTokensDeliverable(request, choices));
  const call: ChatCall = {
    callId: newCallId(),
    correlationId: context.correlationId,
    span: context.span,
    app: context.caller.app,
    userId: context.userId,
    model,
    upstreams: context.upstreams,
    isStream,
    reply,
    leftOut,
    wantsUsage: isStream && isJsonObject(options) && options['include_usage'] === true,
    choices,
    // The provider gets the request as we write it: numbers may grow by that (1e20 becomes 21 digits), and escapes go (WA-07).
    prompt: sizePrompt(model, measured, asked, fitted),
    // A wire that refuses a lowered limit names the lowest of all in one refusal: its clients follow one and no second.
    outputTokensAsked: reply.refusalOfLowered === undefined ? outputTokens : (ownLimitOf(request) ?? outputTokens),
    outputTokensMax,
    // A model that may think all of its output away answers nothing, and vendors refuse such a call.
    outputTokensLeast: Math.min(Math.max(model.minOutputTokens, thoughtTokens + 1), outputTokensMax),
    idempotencyKey: context.idempotencyKey,
    session: context.session,
    budget: context.caller.key.budget,
  };
  return { call, asked };
}

/** The caller's own form, for the upstreams that speak it. Undefined if there are none. */
function nativeOf(
  { native, nativeHeaders: headers }: Fitted,
  ours: JsonObject,
  { wire, upstreams }: CallContext,
): NativeCall | undefined {
  if (native === undefined || !upstreams.some((upstream) => speaks(upstream, wire))) return undefined;
  const isMessages = wire === 'messages';
  const marked = isMessages ? withoutUnpricedMarks(native, upstreams) : native;
  return { api: wire, text: JSON.stringify({ ...marked, ...(isMessages ? metadataOf(ours) : ours) }), headers };
}

/** The pseudonym of the end user where Messages have it. */
function metadataOf({ safety_identifier: user }: JsonObject): JsonObject {
  return user === undefined ? {} : { metadata: { user_id: user } };
}

/**
 * Returns the output limit that was asked for. If both names are given, the newer one counts. Either way the model and
 * the wallet bound the limit.
 */
function outputTokensAskedOf(request: JsonObject, model: Model): number {
  return Math.min(ownLimitOf(request) ?? model.defaultOutputTokens, model.maxOutputTokens);
}

function ownLimitOf(request: JsonObject): number | undefined {
  return wholeOf(request['max_completion_tokens']) ?? wholeOf(request['max_tokens']);
}

/** The pseudonyms of end user and cache key, for models that take these fields. */
function namedAnew(request: JsonObject, model: Model, { caller, userId, pseudonyms }: CallContext): JsonObject {
  const { prompt_cache_key: cacheKey } = request;
  const { appId } = caller.app;
  const { parameters } = model;
  const takesCacheKey =
    parameters === undefined || parameters.has('prompt_cache_key') || parameters.has(ALL_OF_THE_FORMAT);
  const named: Record<string, string> = {};
  if (typeof cacheKey === 'string' && takesCacheKey)
    named['prompt_cache_key'] = pseudonyms.ofCacheKey(appId, userId, cacheKey);
  // Only if the operator's list has it: a provider that does not know the field would refuse every call.
  if (parameters?.has('safety_identifier') === true) named['safety_identifier'] = pseudonyms.ofUser(appId, userId);
  return named;
}

function wholeOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A wire has no name, and so '', for parameters that it does not know. They are not in the list. */
function unaccepted(
  name: string,
  accepted: ReadonlySet<string>,
  nameOf: WireRequest['nameOf'],
): Refusal<'BAD_REQUEST'> {
  const advice = adviceOn(name);
  const hint = advice === undefined ? '' : ` ${advice}`;
  const names = new Set([...accepted].map(nameOf).filter((one) => one !== ''));
  const list = [...names].map((one) => `\`${one}\``).join(', ');
  return refuse('BAD_REQUEST', `\`${shownOf(name)}\` is not a supported parameter.${hint} Supported: ${list}.`, {
    param: shownOf(name),
  });
}
