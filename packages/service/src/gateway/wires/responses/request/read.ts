import type { AskedBy, Fitted, Reply, ModelSupport, Wire, WireRequest } from '#gateway/call/wire.ts';
import { withCallersName } from '#gateway/request/callers-name.ts';
import { misshapen } from '#gateway/body/parse-body.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import type { Echo, Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import { type Item, resolveItems, tooMuch } from '#gateway/wires/responses/conversation/input-items.ts';
import { joiningText } from '#gateway/wires/responses/request/joining-text.ts';
import { isFault, type Message, readMessages, textMessage } from '#gateway/wires/responses/conversation/messages.ts';
import { isLeftOut, isWebSearch, nativeRequest } from '#gateway/wires/responses/request/native.ts';
import { findBadParameter, LOGPROBS, responseFormatOf } from '#gateway/wires/responses/request/parameters.ts';
import { createOpener } from '#gateway/wires/responses/conversation/opener.ts';
import { callersName } from '#gateway/wires/responses/request/paths.ts';
import type { SealedIds } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { settingsOf } from '#gateway/wires/responses/request/echoed-settings.ts';
import { type Choice, readChoice } from '#gateway/wires/responses/conversation/tool-choice.ts';
import { type OtherTool, readTools, type ToolSet } from '#gateway/wires/responses/conversation/tools.ts';
import { withoutUnsupportedFields } from '#gateway/request/unsupported-fields.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

interface ReadOptions {
  readonly sealedIds: SealedIds;
  /** Makes what writes the answer. */
  readonly replyOf: (echo: Echo, sealing: Sealing) => Reply;
}

/** A body and what was found in it. */
interface Parts {
  readonly body: JsonObject;
  /** Undefined if the input is a text. */
  readonly items: readonly Item[] | undefined;
  readonly messages: readonly Message[];
  readonly tools: ToolSet;
  readonly choice: Choice;
}

/** Reads a body of `POST /v1/responses` into the form of chat completions, whose checks it then passes (WI-04). */
export function createRead(options: ReadOptions): Wire['read'] {
  return (body, by) => readRequest(body, by, options);
}

function readRequest(
  body: JsonObject,
  by: AskedBy,
  { sealedIds, replyOf }: ReadOptions,
): WireRequest | Refusal<'BAD_REQUEST'> {
  const { model, stream } = body;
  if (typeof model !== 'string' || model === '') {
    return refuse('BAD_REQUEST', '`model` must be the name of a model: see `GET /v1/models`.', { param: 'model' });
  }
  // The shape of what is there comes before the names of parameters (CC-10). Without `input`, these say what was meant.
  const read = partsOf(body, by, sealedIds);
  const isMisshapen = read instanceof Refusal && body['input'] !== undefined;
  const parts = isMisshapen ? read : (findBadParameter(body) ?? read);
  if (parts instanceof Refusal) return parts;
  const { messages, tools } = parts;
  const nameOf = (path: string): string => callersName(path, { body, messages, toolPaths: tools.paths });
  const request = requestOf(parts);
  const misfit = checkShape(request);
  if (misfit !== undefined) return withCallersName(nameOf, misfit);
  return {
    model,
    isStream: stream === true,
    joinsBy: () => joiningText(body),
    fit: (supports) => fit(parts, request, supports, sealedIds),
    nameOf,
    reply: replyOf({ settings: settingsOf(body), tools: tools.given }, sealingFor(body, by, sealedIds)),
  };
}

/** The client that sends ids of streamed items in place of the items, unless it is told that none is stored. */
const BELIEVES_IN_STORED_ITEMS = /\bai-sdk\b/;

function sealingFor({ store }: JsonObject, by: AskedBy, sealedIds: SealedIds): Sealing {
  const isStored = store !== false;
  return {
    isStored,
    isCarried: isStored && BELIEVES_IN_STORED_ITEMS.test(by.userAgent ?? ''),
    ofItem: (item) => sealedIds.ofItem(item, by),
    ofItems: (items) => sealedIds.ofItems(items, by),
    ofThoughts: (details) => sealedIds.ofThoughts(details, by),
  };
}

function partsOf(body: JsonObject, by: AskedBy, sealedIds: SealedIds): Parts | Refusal<'BAD_REQUEST'> {
  const { input, instructions } = body;
  const isText = typeof input === 'string';
  if (!isText && (!Array.isArray(input) || input.length === 0)) {
    return misshapen({ path: 'input', expects: 'a text, or a non-empty array of items' });
  }
  const opener = createOpener(sealedIds, by);
  const items = isText ? undefined : resolveItems(input, opener);
  if (items instanceof Refusal) return items;
  const tools = readTools(body, items ?? []);
  if (isFault(tools)) return misshapen(tools);
  const choice = readChoice(body['tool_choice'], tools);
  if (isFault(choice)) return misshapen(choice);
  const said = items === undefined ? [textMessage('input', 'user', input)] : readMessages(items, { tools, opener });
  if (isFault(said)) return misshapen(said);
  if (opener.isSpent()) return tooMuch();
  const hasInstructions = typeof instructions === 'string' && instructions !== '';
  const messages = hasInstructions ? [textMessage('instructions', 'system', instructions), ...said] : said;
  return { body, items, messages, tools, choice };
}

/** Parameters that mean the same in chat completions, and are checked there. */
const SAME = new Set([
  'model',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'stream',
  'stream_options',
  'temperature',
  'top_logprobs',
  'top_p',
  'user',
]);
/** Parameters about tools say nothing without tools, and vendors refuse them. */
const OF_TOOLS = new Set(['parallel_tool_calls']);

/** The request in the form of chat completions. */
function requestOf({ body, messages, tools, choice: { choice } }: Parts): JsonObject {
  const request: Record<string, unknown> = { messages: messages.map(({ message }) => message) };
  const add = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) request[name] = value;
  };
  const hasTools = tools.functions.length > 0;
  for (const name of Object.keys(body)) if (SAME.has(name) && (hasTools || !OF_TOOLS.has(name))) add(name, body[name]);
  add('max_completion_tokens', body['max_output_tokens']);
  const text = isJsonObject(body['text']) ? body['text'] : {};
  add('response_format', responseFormatOf(text['format']));
  add('verbosity', text['verbosity']);
  add('reasoning_effort', isJsonObject(body['reasoning']) ? body['reasoning']['effort'] : undefined);
  const asksLogprobs = Array.isArray(body['include']) && body['include'].includes(LOGPROBS);
  if (asksLogprobs || Number(body['top_logprobs'] ?? 0) > 0) request['logprobs'] = true;
  if (hasTools) request['tools'] = tools.functions;
  const isVendors = tools.others.length > 0 && choice === 'required';
  const saysNothing = !hasTools && (choice === 'auto' || choice === 'none' || isVendors);
  if (!saysNothing) add('tool_choice', choice);
  return request;
}

/** Leaves out what the model cannot do and nobody insists on, and refuses the rest of it by name. */
function fit(
  parts: Parts,
  request: JsonObject,
  supports: ModelSupport,
  sealedIds: SealedIds,
): Fitted | Refusal<'BAD_REQUEST'> {
  const { body, items, tools, choice } = parts;
  const insistsOn = choice.insistsOn ?? onlyTool(parts, supports);
  if (insistsOn !== undefined && isLeftOut(insistsOn.tool, supports)) return refuseTool(insistsOn);
  const leftOut = new Set(tools.others.filter(({ tool }) => isLeftOut(tool, supports)).map(({ tool }) => tool.type));
  const dropped = new Set<string>();
  const fitted: Record<string, unknown> = { ...withoutUnsupportedFields(request, supports) };
  if (request['verbosity'] !== undefined && !supports.parameter('verbosity', request['verbosity'])) {
    delete fitted['verbosity'];
    dropped.add('text.verbosity');
  }
  // Codex says `false` to every model, and copes with several calls.
  if (request['parallel_tool_calls'] === false && !supports.parameter('parallel_tool_calls', false)) {
    delete fitted['parallel_tool_calls'];
    dropped.add('parallel_tool_calls');
  }
  return {
    request: fitted,
    native: nativeRequest(body, items, { supports, sealedIds, dropped }),
    leftOut: [...leftOut, ...dropped],
  };
}

/** The tool of a vendor that is all that the model would be offered. Tools that nobody knows here are no loss. */
function onlyTool(
  { tools: { functions, others }, choice: { choice } }: Parts,
  supports: ModelSupport,
): OtherTool | undefined {
  if (functions.length > 0 || choice === 'none' || others.some(({ tool }) => !isLeftOut(tool, supports)))
    return undefined;
  return others.find(({ tool: { type } }) => REASONS.has(type) || isWebSearch(type));
}

const RUNS_ELSEWHERE =
  'It runs at a vendor for a fee, which has no price here: offer a function of your own in `tools`.';
const ONLY_SOME = 'Only models whose vendors speak this interface have it: offer a function of your own in `tools`.';

/** What to do instead of using a tool of a vendor. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['apply_patch', ONLY_SOME],
  ['code_interpreter', RUNS_ELSEWHERE],
  ['computer', RUNS_ELSEWHERE],
  ['computer_use', RUNS_ELSEWHERE],
  ['computer_use_preview', RUNS_ELSEWHERE],
  ['file_search', 'No files are kept here: offer a search of your own as a function in `tools`.'],
  ['image_generation', RUNS_ELSEWHERE],
  ['local_shell', ONLY_SOME],
  ['mcp', 'Servers are not called from here: call them yourself, and offer their tools as functions in `tools`.'],
  ['shell', ONLY_SOME],
]);
const SEARCHES =
  'Searches cost a fee each, which has no price here: offer a search of your own as a function in `tools`.';

function refuseTool({ tool: { type }, path }: OtherTool): Refusal<'BAD_REQUEST'> {
  const param = `${path}.type`;
  const reason = isWebSearch(type) ? SEARCHES : (REASONS.get(type) ?? RUNS_ELSEWHERE);
  return refuse('BAD_REQUEST', `\`${param}\` names a tool that this model does not have here. ${reason}`, { param });
}
