import type { ValueFault } from '#gateway/parameters/values.ts';
import { readMark } from '#gateway/wires/messages/conversation/content.ts';
import { isFault } from '#gateway/wires/messages/conversation/faults.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** The tools of a request. A model knows each as a function, as chat completions has them. */
export interface ToolSet {
  /** In the order of the caller's. */
  readonly functions: readonly JsonObject[];
  /** The caller's names of tools that the model knows by a shorter one. */
  readonly givenNames: ReadonlyMap<string, string>;
}

/** More names would be kept for as long as a stream is open. */
const TOOLS_MAX = 1_024;
const NAME_CHARACTERS_MAX = 128;
/** Most vendors take so many characters, and Anthropic twice as many. */
const FUNCTION_NAME_MAX = 64;
const DIGEST_CHARACTERS = 8;

const COSTS =
  'it runs at a vendor for a fee, which has no price here, so offer a tool of your own with an `input_schema`';
const KNOWN_TO_ONE = 'only one vendor’s models know it, so describe it with an `input_schema`';

/** The kinds of tools that Anthropic has, by the beginning of their types. */
const REASONS: readonly (readonly [type: RegExp, reason: string])[] = [
  [
    /^web_search_/,
    'searches cost a fee each, which has no price here, so offer a search of your own with an `input_schema`',
  ],
  [/^(?:web_fetch|code_execution|advisor)_/, COSTS],
  [/^(?:bash|text_editor|memory|computer)_/, KNOWN_TO_ONE],
  [/^tool_search_tool/, 'nothing is searched here, so send the tools themselves'],
  [/^mcp_toolset$/, 'servers are not called from here, so call them yourself, and offer their tools'],
];

/** Reads the tools. Whether and when a vendor loads one is passed over: to the model, all of them are functions. */
export function readTools(value: unknown): ToolSet | ValueFault {
  const functions: JsonObject[] = [];
  const givenNames = new Map<string, string>();
  const list = value ?? [];
  if (!Array.isArray(list) || list.length > TOOLS_MAX) {
    return { path: 'tools', expects: `an array of at most ${TOOLS_MAX} tools` };
  }
  for (const [index, tool] of (list as readonly unknown[]).entries()) {
    const read = readTool(tool, `tools[${index}]`, givenNames);
    if (isFault(read)) return read;
    functions.push(read);
  }
  return { functions, givenNames };
}

function readTool(tool: unknown, path: string, givenNames: Map<string, string>): JsonObject | ValueFault {
  if (!isJsonObject(tool)) return { path, expects: 'an object with `name` and `input_schema`' };
  const { type = 'custom', name, description, input_schema: parameters, cache_control: mark = null } = tool;
  if (type !== 'custom' && type !== null) {
    const reason = REASONS.find(([pattern]) => typeof type === 'string' && pattern.test(type))?.[1] ?? COSTS;
    return { path: `${path}.type`, expects: `"custom", or absent: ${reason}` };
  }
  if (typeof name === 'string' && name.length > NAME_CHARACTERS_MAX) {
    return { path: `${path}.name`, expects: `a name of at most ${NAME_CHARACTERS_MAX} characters` };
  }
  if (description !== undefined && description !== null && typeof description !== 'string') {
    return { path: `${path}.description`, expects: 'a string' };
  }
  const marked = mark === null ? {} : readMark(mark, () => `${path}.cache_control`);
  if (isFault(marked)) return marked;
  const known = shortName(name);
  if (known !== name) givenNames.set(String(known), String(name));
  const described = {
    name: known,
    ...(typeof description === 'string' ? { description } : {}),
    ...(parameters === undefined ? {} : { parameters }),
  };
  return { type: 'function', function: described, ...marked };
}

/** The name by which the model knows a tool. One that is too long for most vendors ends with a digest of itself. */
export function shortName(name: unknown): unknown {
  if (typeof name !== 'string' || name.length <= FUNCTION_NAME_MAX) return name;
  const digest = sha256(name).toString('hex').slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, FUNCTION_NAME_MAX - DIGEST_CHARACTERS - 1)}_${digest}`;
}

/** What a caller says of the choice among tools. */
export interface Choice {
  /** In the form of chat completions. Undefined if it says nothing. */
  readonly choice?: unknown;
  readonly isOneAtATime: boolean;
}

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

export function readChoice(value: unknown, { functions }: ToolSet): Choice | ValueFault {
  if (value === undefined || value === null) return { isOneAtATime: false };
  const path = 'tool_choice';
  if (!isJsonObject(value)) return { path, expects: 'an object with a `type`' };
  const { type, name, disable_parallel_tool_use: isAlone = null } = value;
  if (isAlone !== null && typeof isAlone !== 'boolean') {
    return { path: `${path}.disable_parallel_tool_use`, expects: 'true or false' };
  }
  const word = WORDS.get(type);
  if (word === undefined && type !== 'tool') {
    return { path: `${path}.type`, expects: 'one of "auto", "any", "tool", "none"' };
  }
  const hasTools = functions.length > 0;
  const choice = word ?? { type: 'function', function: { name: shortName(name) } };
  const saysNothing = !hasTools && (choice === 'auto' || choice === 'none');
  return { isOneAtATime: hasTools && isAlone === true, ...(saysNothing ? {} : { choice }) };
}
