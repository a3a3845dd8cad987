import type { ErrorBody } from '@purser/contract/errors.ts';
import type { ReplyCall, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/responses/conversation/echo.ts';
import { secondOf } from '#kernel/values/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { FinishReason } from '#providers/port/completion.ts';

/** What a Response says of its request if the caller said nothing. */
const DEFAULTS: JsonObject = {
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  temperature: null,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
};

/** What is never said again: it is large, or nothing is stored here, or it names the payer. */
const UNSAID: JsonObject = {
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  previous_response_id: null,
  store: false,
  tools: [],
  user: null,
};

/** The members that all Response objects of one call have, ended or not. */
export function responseHead({ callId, model }: ReplyCall, { settings }: Echo): JsonObject {
  return {
    id: `resp_${callId}`,
    object: 'response',
    created_at: secondOf(callId),
    model: model.id,
    ...DEFAULTS,
    ...settings,
    ...completed(settings),
    ...UNSAID,
  };
}

/** Settings of which only names are said again, with the members that the vendor's types demand beside those. */
function completed({ text, tool_choice: choice }: JsonObject): JsonObject {
  const { format, ...rest } = isJsonObject(text) ? text : {};
  const known = isJsonObject(format) ? format : { type: 'text' };
  const isSchema = known['type'] === 'json_schema';
  const isAllowed = isJsonObject(choice) && choice['type'] === 'allowed_tools';
  return {
    text: { ...rest, format: isSchema ? { ...known, schema: {} } : known },
    ...(isAllowed ? { tool_choice: { ...choice, tools: [] } } : {}),
  };
}

/** Why an answer ended, in the words of this wire. */
export interface ResponseEnding {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: JsonObject | null;
}

const COMPLETED: ResponseEnding = { status: 'completed', incomplete_details: null };
export const CUT: ResponseEnding = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
const FILTERED: ResponseEnding = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };

export function endingOf(reason: FinishReason | null): ResponseEnding {
  switch (reason) {
    case 'length':
      return CUT;
    case 'content_filter':
      return FILTERED;
    case 'stop':
    case 'tool_calls':
    case 'function_call':
    case null:
      return COMPLETED;
  }
}

/** The usage that a caller is told, in the words of this wire. */
export function responseUsage({ usage }: ToldUsage): JsonObject {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage;
  const input = isJsonObject(prompt) ? prompt : {};
  const output = isJsonObject(completion) ? completion : {};
  return {
    input_tokens: usage['prompt_tokens'],
    input_tokens_details: {
      cached_tokens: input['cached_tokens'] ?? 0,
      cache_write_tokens: input['cache_write_tokens'] ?? 0,
    },
    output_tokens: usage['completion_tokens'],
    output_tokens_details: { reasoning_tokens: output['reasoning_tokens'] ?? 0 },
    total_tokens: usage['total_tokens'],
  };
}

/** Failures that come again with the same request. */
const LASTING: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'upstream_rejected',
  'upstream_unauthorized',
  'upstream_refused',
]);

/**
 * The error of a stream that failed after it had begun. Its code is one of this wire: agents show the message of `invalid_prompt` and
 * stop, and send the request again after any other, up to five times. Our own code stands beside it, with the other fields of the envelope.
 */
export function responseError({ error }: ErrorBody): JsonObject {
  const { code, message, correlationId, type, param } = error;
  const isThrottled = code === 'UPSTREAM_THROTTLED';
  const known = LASTING.has(type) ? 'invalid_prompt' : isThrottled ? 'rate_limit_exceeded' : 'server_error';
  return { code: known, message, type, param, correlationId, serviceCode: code };
}

/** What is taken of a vendor's own Response beside its items. Everything else is ours, or says what the operator pays. */
const VENDOR_FIELDS = ['reasoning', 'moderation', 'prompt_cache_diagnostics', 'input_transformations'];

export function vendorFields(response: JsonObject): JsonObject & ResponseEnding {
  const taken: Record<string, unknown> = {};
  for (const name of VENDOR_FIELDS) if (response[name] !== undefined) taken[name] = response[name];
  const details = response['incomplete_details'];
  const status = response['status'] === 'incomplete' ? 'incomplete' : 'completed';
  return {
    ...taken,
    status,
    incomplete_details: status === 'incomplete' && isJsonObject(details) ? details : null,
  };
}

function isItem(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value['type'] === 'string';
}

/** The items of a vendor's own Response. */
export function outputOf(response: JsonObject | undefined): readonly JsonObject[] {
  const output = response?.['output'];
  return Array.isArray(output) ? output.filter(isItem) : [];
}
