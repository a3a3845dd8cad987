import type { ValueFault } from '#gateway/parameters/values.ts';
import { namespaceFault, type OtherTool, type ToolSet } from '#gateway/wires/responses/conversation/tools.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What a caller says of the choice among tools. */
export interface Choice {
  /** The choice in the form of chat completions. Undefined if nothing is said, or if a tool of a vendor is chosen. */
  readonly choice?: unknown;
  /** The tool of a vendor that the model must call. */
  readonly insistsOn?: OtherTool;
}

/** Reads `tool_choice`. Its words are checked in the form of chat completions. */
export function readChoice(value: unknown, tools: ToolSet): Choice | ValueFault {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) return { choice: value };
  const { type } = value;
  if (type === 'allowed_tools') return readAllowed(value, tools);
  if (type === 'function' || type === 'custom') {
    return namespaceFault(value, 'tool_choice') ?? { choice: named(value, tools) };
  }
  if (typeof type === 'string') return { insistsOn: otherTool(type, 'tool_choice', tools) };
  return { path: 'tool_choice.type', expects: '"function", "custom" or "allowed_tools"' };
}

/** A tool of a vendor, as it is offered if it is. */
function otherTool(type: string, path: string, { others }: ToolSet): OtherTool {
  return { tool: others.find(({ tool }) => tool.type === type)?.tool ?? { type }, path };
}

/** A tool by its name, which may be wrong. */
function named({ type, name, namespace }: JsonObject, tools: ToolSet): JsonObject {
  if (typeof name !== 'string') return { type: 'function', function: { name } };
  const given = {
    type: type === 'custom' ? 'custom' : 'function',
    name,
    namespace: typeof namespace === 'string' ? namespace : undefined,
  } as const;
  return { type: 'function', function: { name: tools.functionOf(given) } };
}

function readAllowed({ mode, tools: listed }: JsonObject, tools: ToolSet): Choice | ValueFault {
  const path = 'tool_choice.tools';
  if (!Array.isArray(listed)) return { path, expects: 'an array of tools' };
  const allowed: JsonObject[] = [];
  const others: OtherTool[] = [];
  for (const [index, tool] of (listed as readonly unknown[]).entries()) {
    const at = `${path}[${index}]`;
    const type = isJsonObject(tool) ? tool['type'] : undefined;
    if (!isJsonObject(tool) || typeof type !== 'string') return { path: at, expects: 'a tool, with its `type`' };
    const fault = namespaceFault(tool, at);
    if (fault !== undefined) return fault;
    if (type === 'function' || type === 'custom') allowed.push(named(tool, tools));
    else others.push(otherTool(type, at, tools));
  }
  const [insistsOn] = others;
  if (allowed.length === 0 && insistsOn !== undefined) return { insistsOn };
  return { choice: { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } } };
}
