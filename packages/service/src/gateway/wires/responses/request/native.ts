import type { ModelSupport } from '#gateway/call/wire.ts';
import type { Item } from '#gateway/wires/responses/conversation/input-items.ts';
import { ENCRYPTED_REASONING } from '#gateway/wires/responses/request/parameters.ts';
import { PLAIN_ID_CHARACTERS_MAX, type SealedIds } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What goes to a vendor who speaks this wire as the caller wrote it. The rest names the payer, or is decided here. */
const PASSED_ON = new Set([
  'instructions',
  'include',
  'max_tool_calls',
  'parallel_tool_calls',
  'reasoning',
  'service_tier',
  'temperature',
  'text',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'truncation',
]);

/** Tools that cost nothing but tokens: the model or the caller does the work. */
const FREE_TOOLS = new Set<unknown>(['function', 'custom', 'namespace', 'tool_search', 'apply_patch', 'local_shell']);

export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && /^web_search(?:_|$)/.test(type);
}

/** Whether a tool may be offered: `shell` only where the caller runs the commands. */
function isOffered(tool: unknown, supports: ModelSupport): boolean {
  if (!isJsonObject(tool)) return false;
  const { type, environment } = tool;
  if (type === 'shell') return isJsonObject(environment) && environment['type'] === 'local';
  return FREE_TOOLS.has(type) || (isWebSearch(type) && supports.webSearch);
}

/** Whether a tool is one that a vendor runs for a fee, that is unknown here, or that some of the model's vendors do not have. */
export function isLeftOut(tool: JsonObject, supports: ModelSupport): boolean {
  return !supports.ownForm || !isOffered(tool, supports);
}

/** The request as its caller wrote it, for vendors who speak this wire (WI-03). */
export function nativeRequest(
  body: JsonObject,
  items: readonly Item[] | undefined,
  { supports, sealedIds, dropped }: NativeContext,
): JsonObject {
  const native: Record<string, unknown> = {};
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (PASSED_ON.has(name) && value !== null && !dropped.has(name)) native[name] = value;
  }
  native['input'] =
    items === undefined ? body['input'] : items.flatMap(({ item }) => nativeItem(item, supports, sealedIds));
  const tools = offeredTools(body['tools'], supports);
  if (tools.length > 0) native['tools'] = tools;
  else if (!(items ?? []).some(({ item: { type } }) => type === 'additional_tools')) {
    delete native['tool_choice'];
    delete native['parallel_tool_calls'];
  }
  const { searchesMax } = supports;
  // The vendor bills each search, and a hold covers so many.
  if (searchesMax !== undefined && offersAnySearch(native, items ?? [], supports))
    native['max_tool_calls'] = Math.min(Number(native['max_tool_calls'] ?? searchesMax), searchesMax);
  if (isJsonObject(native['text']) && dropped.has('text.verbosity')) {
    const { verbosity: _verbosity, ...text } = native['text'];
    native['text'] = text;
  }
  const allowed = native['tool_choice'];
  if (isJsonObject(allowed) && allowed['type'] === 'allowed_tools') {
    native['tool_choice'] = { ...allowed, tools: offeredTools(allowed['tools'], supports) };
  }
  if (supports.parameter('reasoning_effort') || isJsonObject(body['reasoning'])) {
    const given = Array.isArray(native['include']) ? (native['include'] as readonly unknown[]) : [];
    native['include'] = [...new Set([...given, ENCRYPTED_REASONING])];
  }
  return native;
}

interface NativeContext {
  readonly supports: ModelSupport;
  readonly sealedIds: SealedIds;
  /** What is left out because the model does not take it. */
  readonly dropped: ReadonlySet<string>;
}

function offeredTools(list: unknown, supports: ModelSupport): readonly unknown[] {
  if (!Array.isArray(list)) return [];
  const all: readonly unknown[] = list;
  return all.filter((tool) => isOffered(tool, supports)).map((tool) => withOfferedTools(tool as JsonObject, supports));
}

function offersAnySearch(native: JsonObject, items: readonly Item[], supports: ModelSupport): boolean {
  return offersSearch(native) || items.some(({ item }) => offersSearch(withOfferedTools(item, supports)));
}

/** Whether a request, an item or a namespace has a search of the web among its tools. */
function offersSearch({ tools }: JsonObject): boolean {
  if (!Array.isArray(tools)) return false;
  return tools.filter(isJsonObject).some((tool) => isWebSearch(tool['type']) || offersSearch(tool));
}

/** A namespace, or an item that adds tools, with those of its tools that cost nothing. */
function withOfferedTools(holder: JsonObject, supports: ModelSupport): JsonObject {
  const { tools } = holder;
  return tools === undefined ? holder : { ...holder, tools: offeredTools(tools, supports) };
}

/** None if the item would be looked up where nothing is stored. Ids that are longer than a vendor's are ours. */
function nativeItem(item: JsonObject, supports: ModelSupport, sealedIds: SealedIds): readonly JsonObject[] {
  const { type, id, encrypted_content: sealed } = item;
  if (type === 'reasoning' && (typeof sealed !== 'string' || sealedIds.isThoughts(sealed))) return [];
  if (type === 'web_search_call' && !supports.webSearch) return [];
  // Carried without its picture (WI-05).
  if (type === 'image_generation_call' && typeof item['result'] !== 'string') return [];
  const native = withOfferedTools(item, supports);
  if (id === undefined || (typeof id === 'string' && id.length <= PLAIN_ID_CHARACTERS_MAX)) return [native];
  const { id: _id, ...rest } = native;
  return [rest];
}
