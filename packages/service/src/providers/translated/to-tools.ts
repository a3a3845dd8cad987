import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

/** The tools and the tool choice of a checked request. `allowed_tools` becomes the tools that are allowed. */
export function toTools(
  dialect: Dialect,
  request: JsonObject,
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  const { tools, tool_choice: choice } = request;
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const offered = (tools as readonly JsonObject[]).map((tool) => toTool(dialect, tool));
  if (choice === undefined || choice === null) return { tools: offered };
  if (!isJsonObject(choice)) return { tools: offered, toolChoice: { type: choice as 'auto' | 'none' | 'required' } };
  const allowed = choice['allowed_tools'];
  if (!isJsonObject(allowed)) return { tools: offered, toolChoice: { type: 'tool', toolName: nameOf(choice) } };
  const names = new Set((allowed['tools'] as readonly JsonObject[]).map(nameOf));
  const toolChoice: LanguageModelV4ToolChoice = { type: allowed['mode'] as 'auto' | 'required' };
  return { tools: offered.filter(({ name }) => names.has(name)), toolChoice };
}

function toTool(dialect: Dialect, tool: JsonObject): LanguageModelV4FunctionTool {
  const described = tool['function'] as JsonObject;
  const { description, parameters, strict } = described;
  const cacheControl = tool['cache_control'];
  return {
    type: 'function',
    name: nameOf(tool),
    inputSchema: isJsonObject(parameters) ? parameters : NO_ARGUMENTS,
    ...(typeof description === 'string' ? { description } : {}),
    // False is the format's default and says nothing.
    ...(strict === true ? { strict } : {}),
    ...(isJsonObject(cacheControl) ? { providerOptions: dialect.cacheOptions(cacheControl) } : {}),
  };
}

function nameOf(tool: JsonObject): string {
  return (tool['function'] as JsonObject)['name'] as string;
}
