import type { AskedBy, Fitted, Reply, ModelSupport, Wire, WireRequest } from '#gateway/call/wire.ts';
import { withCallersName } from '#gateway/request/callers-name.ts';
import { misshapen } from '#gateway/body/parse-body.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { readConversation } from '#gateway/wires/messages/conversation/conversation.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { isFault } from '#gateway/wires/messages/conversation/faults.ts';
import { findBadParameter } from '#gateway/wires/messages/request/parameters.ts';
import { callersName } from '#gateway/wires/messages/request/paths.ts';
import { nativeHeaders, nativeRequest, tokensOfReferences } from '#gateway/wires/messages/request/native.ts';
import type { Message } from '#gateway/wires/messages/conversation/places.ts';
import { shownThinking, thinkingOf } from '#gateway/wires/messages/request/thinking.ts';
import { type Choice, readChoice, readTools, type ToolSet } from '#gateway/wires/messages/conversation/tools.ts';
import { withoutUnsupportedFields } from '#gateway/request/unsupported-fields.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

interface ReadOptions {
  /** Makes what writes the answer. */
  readonly replyOf: (echo: Echo) => Reply;
  /** Whether a prompt is only counted. Such a body needs no limit. */
  readonly isCounting?: boolean;
}

/** A body and what was found in it. */
interface Parts {
  readonly body: JsonObject;
  readonly messages: readonly Message[];
  readonly tools: ToolSet;
  readonly choice: Choice;
}

function limitMissing({ max_tokens: limit }: JsonObject, isCounting: boolean): Refusal<'BAD_REQUEST'> | undefined {
  if (isCounting || typeof limit === 'number') return undefined;
  return misshapen({ path: 'max_tokens', expects: 'given: the most tokens that the answer may have' });
}

/** Reads a body of `POST /v1/messages` into the form of chat completions, whose checks it then passes (WI-08). */
export function createRead(options: ReadOptions): Wire['read'] {
  return (body, by) => readRequest(body, by, options);
}

function readRequest(
  body: JsonObject,
  by: AskedBy,
  { replyOf, isCounting = false }: ReadOptions,
): WireRequest | Refusal<'BAD_REQUEST'> {
  const { model, stream } = body;
  if (typeof model !== 'string' || model === '') {
    return refuse('BAD_REQUEST', '`model` must be the name of a model: see `GET /v1/models`.', { param: 'model' });
  }
  // The shape of what is there comes before the names of parameters (CC-10). Without `messages`, these say what was meant.
  const read = partsOf(body);
  const isMisshapen = read instanceof Refusal && body['messages'] !== undefined;
  const parts = isMisshapen ? read : (findBadParameter(body) ?? limitMissing(body, isCounting) ?? read);
  if (parts instanceof Refusal) return parts;
  const { messages, tools } = parts;
  const nameOf = (path: string): string => callersName(path, { body, messages });
  const request = requestOf(parts);
  const misfit = checkShape(request);
  if (misfit !== undefined) return withCallersName(nameOf, misfit);
  const echo: Echo = {
    model,
    stopSequences: Array.isArray(body['stop_sequences']) ? (body['stop_sequences'] as readonly string[]) : [],
    thinking: shownThinking(body),
    toolNames: tools.givenNames,
  };
  return {
    model,
    isStream: stream === true,
    fit: (supports) => fit({ ...parts, by }, request, supports),
    nameOf,
    reply: replyOf(echo),
  };
}

function partsOf(body: JsonObject): Parts | Refusal<'BAD_REQUEST'> {
  const tools = readTools(body['tools']);
  if (isFault(tools)) return misshapen(tools);
  const choice = readChoice(body['tool_choice'], tools);
  if (isFault(choice)) return misshapen(choice);
  const messages = readConversation(body);
  if (isFault(messages)) return misshapen(messages);
  return { body, messages, tools, choice };
}

/** Parameters that mean the same in chat completions, and are checked there. */
const SAME = ['model', 'stream', 'temperature', 'top_p'];
/** Chat completions name a format. Nobody asks what it is called. */
const FORMAT_NAME = 'answer';

/** The request in the form of chat completions. */
function requestOf({ body, messages, tools: { functions }, choice: { choice, isOneAtATime } }: Parts): JsonObject {
  const request: Record<string, unknown> = { messages: messages.map(({ message }) => message) };
  const add = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) request[name] = value;
  };
  for (const name of SAME) add(name, body[name]);
  add('max_completion_tokens', body['max_tokens']);
  const { stop_sequences: stops, output_config: config, output_format: oldFormat, cache_control: mark } = body;
  if (Array.isArray(stops) && stops.length > 0) add('stop', stops);
  const format = isJsonObject(config) && isJsonObject(config['format']) ? config['format'] : oldFormat;
  if (isJsonObject(format)) {
    add('response_format', { type: 'json_schema', json_schema: { name: FORMAT_NAME, schema: format['schema'] } });
  }
  if (functions.length > 0) add('tools', functions);
  add('tool_choice', choice);
  if (isOneAtATime) request['parallel_tool_calls'] = false;
  if (isJsonObject(mark)) markLast(request, { type: mark['type'], ...(mark['ttl'] ? { ttl: mark['ttl'] } : {}) });
  return request;
}

/** A mark of the whole request means everything up to its last message. */
function markLast(request: Record<string, unknown>, mark: JsonObject): void {
  const messages = request['messages'] as readonly JsonObject[];
  const last = messages.at(-1) ?? {};
  request['messages'] = [...messages.slice(0, -1), { ...last, cache_control: mark }];
}

/** Leaves out what clients send unasked and the model cannot do. */
function fit(
  { body, by }: Parts & { readonly by: AskedBy },
  request: JsonObject,
  supports: ModelSupport,
): Fitted | Refusal<'BAD_REQUEST'> {
  const thinking = thinkingOf(body, supports);
  const leftOut = [...thinking.leftOut];
  // Where everyone is sent the caller's own form, the inner one is checked and counted, and reaches nobody.
  const inner = supports.ownForm ? request : withoutUnsupportedFields(request, supports);
  const fitted: Record<string, unknown> = { ...inner, ...thinking.asked };
  // Agents say it to every model, and cope with several calls.
  if (request['parallel_tool_calls'] === false && !supports.parameter('parallel_tool_calls', false)) {
    delete fitted['parallel_tool_calls'];
    leftOut.push('tool_choice.disable_parallel_tool_use');
  }
  const { top_k: topK } = body;
  if (typeof topK === 'number') {
    if (supports.parameter('top_k', topK)) fitted['top_k'] = topK;
    else leftOut.push('top_k');
  }
  if (!supports.hasOwnForm) return { request: fitted, leftOut };
  const { native, leftOut: leftOutOfNative } = nativeRequest(body);
  const headers = nativeHeaders(by, supports);
  if (headers instanceof Refusal && supports.ownForm) return headers;
  return {
    request: fitted,
    native,
    nativeHeaders: headers instanceof Refusal ? {} : headers,
    tokensBeside: tokensOfReferences(body),
    leftOut: supports.ownForm ? leftOutOfNative : leftOut,
  };
}
