import type { ValueFault } from '#gateway/parameters/values.ts';
import type { GivenTool } from '#gateway/wires/responses/conversation/echo.ts';
import type { Item } from '#gateway/wires/responses/conversation/input-items.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** The tools of a request. A model knows each as a function, as chat completions has them. */
export interface ToolSet {
  readonly functions: readonly JsonObject[];
  /** The caller's places of these functions. */
  readonly paths: readonly string[];
  /** What a caller knows under another name or as another type, by the name of the function. */
  readonly given: ReadonlyMap<string, GivenTool>;
  /** Tools of other types: those of vendors, and those that come next. */
  readonly others: readonly OtherTool[];
  /** The name of the function that stands for a tool, also for one that is offered no more. */
  readonly functionOf: (tool: GivenTool) => string;
}

export interface OtherTool {
  readonly tool: JsonObject & { readonly type: string };
  readonly path: string;
}

/** More would be kept for as long as a stream is open. Vendors take 128 at once. */
const TOOLS_MAX = 1_024;
const NAME_CHARACTERS_MAX = 128;
/** Vendors take so many characters. */
const FUNCTION_NAME_MAX = 64;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const DIGEST_CHARACTERS = 8;

/** An offered tool. */
interface Offered extends GivenTool {
  readonly path: string;
  readonly tool: JsonObject;
  /** The words of its namespace, for the first of its tools. */
  readonly preface?: unknown;
}

/** Where lists of tools are: the parameter, and items that add some. */
function listsOf(body: JsonObject, items: readonly Item[]): readonly (readonly [path: string, list: unknown])[] {
  const added = items
    .filter(({ item: { type } }) => type === 'additional_tools' || type === 'tool_search_output')
    .map(({ place, item }) => [`input[${place}].tools`, item['tools'] ?? []] as const);
  return [['tools', body['tools'] ?? []], ...added];
}

/** Reads the tools: namespaces are opened, and custom tools are functions with one text (WI-04). */
export function readTools(body: JsonObject, items: readonly Item[]): ToolSet | ValueFault {
  if (items.length === 0 && (body['tools'] ?? null) === null) return NO_TOOLS;
  const offered: Offered[] = [];
  const others: OtherTool[] = [];
  const earlier = new Set<string>();
  for (const [path, list] of listsOf(body, items)) {
    const before = offered.length;
    const fault = readList(list, path, { offered, others, earlier });
    if (fault !== undefined) return fault;
    for (const tool of offered.slice(before)) earlier.add(keyOf(tool));
  }
  return offered.length === 0 && others.length === 0 ? NO_TOOLS : toolSetOf(offered, others);
}

interface Found {
  readonly offered: Offered[];
  readonly others: OtherTool[];
  /** The tools of earlier lists. One that comes again is the same. */
  readonly earlier: ReadonlySet<string>;
}

function readList(
  list: unknown,
  path: string,
  found: Found,
  namespace?: { readonly name: string; readonly preface: unknown },
): ValueFault | undefined {
  if (!Array.isArray(list)) return { path, expects: 'an array of tools' };
  for (const [index, tool] of (list as readonly unknown[]).entries()) {
    const at = `${path}[${index}]`;
    if (!isJsonObject(tool)) return { path: at, expects: 'an object: a tool' };
    const { type, name } = tool;
    if (typeof type !== 'string') return { path: `${at}.type`, expects: '"function", "custom" or "namespace"' };
    if (type !== 'function' && type !== 'custom' && (type !== 'namespace' || namespace !== undefined)) {
      found.others.push({ tool: { ...tool, type }, path: at });
      continue;
    }
    if (typeof name !== 'string' || name === '' || name.length > NAME_CHARACTERS_MAX) {
      const flat = isJsonObject(tool['function'])
        ? ' here, and not in `function`, which is the form of chat completions'
        : '';
      return { path: `${at}.name`, expects: `a name of at most ${NAME_CHARACTERS_MAX} characters${flat}` };
    }
    if (type === 'namespace') {
      const fault = readList(tool['tools'], `${at}.tools`, found, { name, preface: tool['description'] });
      if (fault !== undefined) return fault;
      continue;
    }
    const preface = index === 0 ? namespace?.preface : undefined;
    const given = { type, name, namespace: namespace?.name, path: at, tool, preface } as const;
    if (!found.earlier.has(keyOf(given))) found.offered.push(given);
    if (found.offered.length > TOOLS_MAX)
      return { path, expects: `at most ${TOOLS_MAX} tools, with those in namespaces` };
  }
  return undefined;
}

/** What names a tool may name its namespace. */
export function namespaceFault({ namespace }: JsonObject, path: string): ValueFault | undefined {
  if (namespace === undefined || namespace === null || typeof namespace === 'string') return undefined;
  return { path: `${path}.namespace`, expects: 'a string: the namespace of the tool' };
}

function keyOf({ type, namespace, name }: GivenTool): string {
  return JSON.stringify([type, namespace ?? null, name]);
}

function toolSetOf(all: readonly Offered[], others: readonly OtherTool[]): ToolSet {
  // Functions keep their names. What stands for others keeps out of their way.
  const taken = new Set(all.filter(isPlain).map(({ name }) => name));
  const names = new Map<string, string>();
  const given = new Map<string, GivenTool>();
  for (const { path: _path, tool: _tool, preface: _preface, ...tool } of all.filter((one) => !isPlain(one))) {
    if (names.has(keyOf(tool))) continue;
    const own = standIn(tool);
    const name = taken.has(own) ? standIn(tool, true) : own;
    taken.add(name);
    names.set(keyOf(tool), name);
    given.set(name, tool);
  }
  const plain = new Set(all.filter(isPlain).map(({ name }) => name));
  const alone = namesAlone(all, names);
  const functionOf = (tool: GivenTool): string => {
    if (isPlain(tool) && plain.has(tool.name)) return tool.name;
    const inNamespace = tool.namespace === undefined ? alone.get(keyOf(tool)) : undefined;
    return names.get(keyOf(tool)) ?? inNamespace ?? (isPlain(tool) ? tool.name : standIn(tool));
  };
  return {
    functions: all.map((one) => ({ type: 'function', function: functionFor(one, functionOf(one)) })),
    paths: all.map(({ path }) => path),
    given,
    others,
    functionOf,
  };
}

const NO_TOOLS = toolSetOf([], []);

function isPlain({ type, namespace }: GivenTool): boolean {
  return type === 'function' && namespace === undefined;
}

/** Tools in namespaces by their names alone: some clients leave the namespace out. The first of several has the name. */
function namesAlone(all: readonly Offered[], names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const alone = new Map<string, string>();
  for (const { type, name, namespace } of all) {
    const own = namespace === undefined ? undefined : names.get(keyOf({ type, name, namespace }));
    const key = keyOf({ type, name });
    if (own !== undefined && !alone.has(key)) alone.set(key, own);
  }
  return alone;
}

/** A name for the function that stands for a tool: the same in each request, because caches and conversations have it. */
function standIn(tool: GivenTool, isTaken = false): string {
  const words = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
  if (!isTaken && words.length <= FUNCTION_NAME_MAX && FUNCTION_NAME.test(words)) return words;
  const digest = sha256(keyOf(tool)).toString('hex').slice(0, DIGEST_CHARACTERS);
  const plain = words.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${plain.slice(0, FUNCTION_NAME_MAX - DIGEST_CHARACTERS - 1)}_${digest}`;
}

function functionFor({ type, tool, preface }: Offered, name: string): JsonObject {
  const { description, parameters, strict } = tool;
  const isPrefaced = typeof preface === 'string' && preface !== '';
  const words = isPrefaced ? `${preface}\n\n${typeof description === 'string' ? description : ''}`.trim() : description;
  if (type === 'custom') return { name, description: withGrammar(words, tool['format']), parameters: ONE_TEXT };
  return { name, ...given('description', words), ...given('parameters', parameters), ...given('strict', strict) };
}

function given(name: string, value: unknown): JsonObject {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** The one parameter of the function that stands for a custom tool. */
export const CUSTOM_INPUT = 'input';

const ONE_TEXT = {
  type: 'object',
  properties: { [CUSTOM_INPUT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [CUSTOM_INPUT],
  additionalProperties: false,
};

/** Only vendors that speak this wire can bind a model to a grammar. Others read it in the description. */
function withGrammar(description: unknown, format: unknown): string {
  const words = typeof description === 'string' ? description : '';
  if (!isJsonObject(format) || typeof format['definition'] !== 'string') return words;
  const syntax = typeof format['syntax'] === 'string' ? ` (${format['syntax']})` : '';
  return `${words}\n\n\`${CUSTOM_INPUT}\` must follow this grammar${syntax}:\n${format['definition']}`.trim();
}
