import { malformed } from './api-error.ts';
import { Fields } from './fields.ts';

export interface FunctionTool {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly parameters: unknown;
}

/** Which tools the answer may call, and whether it must, may or must not call one. */
export interface ToolPlan {
  readonly mode: 'none' | 'auto' | 'required';
  readonly tools: readonly FunctionTool[];
  /** Whether one answer may have several calls. Only if the request says so: the usual answer has one call. */
  readonly isParallel: boolean;
}

const TOOLS_MAX = 128;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Parses `tools`. Only functions are supported. */
export function parseTools(request: Fields): readonly FunctionTool[] {
  const list = request.list('tools', { min: 0, max: TOOLS_MAX }) ?? [];
  return list.map((value, index) => parseTool(new Fields(value, `tools[${index}]`)));
}

/** Parses `tool_choice` and `parallel_tool_calls`. Every tool that the choice names must be among `tools`. */
export function parseToolPlan(request: Fields, tools: readonly FunctionTool[]): ToolPlan {
  const isParallel = request.boolean('parallel_tool_calls') ?? false;
  const choice = request.raw('tool_choice') ?? (tools.length === 0 ? 'none' : 'auto');
  if (choice === 'none') return { mode: 'none', tools: [], isParallel };
  if (tools.length === 0) throw malformed('tool_choice', '`tool_choice` is only allowed together with `tools`.');
  if (choice === 'auto' || choice === 'required') return { mode: choice, tools, isParallel };
  return parseChosen(new Fields(choice, 'tool_choice'), tools, isParallel);
}

function parseTool(tool: Fields): FunctionTool {
  if (tool.text('type') !== 'function')
    throw malformed(tool.pathOf('type'), 'Only tools of type `function` can be called.');
  const called = new Fields(tool.raw('function'), tool.pathOf('function'));
  const name = called.text('name');
  if (!TOOL_NAME.test(name)) {
    throw malformed(called.pathOf('name'), 'A function name is 1 to 64 letters, digits, underscores and dashes.');
  }
  called.object('parameters');
  return { name, description: called.string('description') ?? '', parameters: called.raw('parameters') ?? {} };
}

/** Parses a choice that is an object: one function, or a list of allowed tools. */
function parseChosen(choice: Fields, tools: readonly FunctionTool[], isParallel: boolean): ToolPlan {
  const type = choice.text('type');
  if (type === 'function') {
    return { mode: 'required', tools: [namedTool(choice, tools)], isParallel };
  }
  if (type !== 'allowed_tools') throw malformed('tool_choice.type', `\`${type}\` is not a kind of tool choice.`);

  const allowed = new Fields(choice.raw('allowed_tools'), 'tool_choice.allowed_tools');
  const mode = allowed.text('mode');
  if (mode !== 'auto' && mode !== 'required')
    throw malformed(allowed.pathOf('mode'), 'The mode is `auto` or `required`.');
  const list = allowed.list('tools', { min: 1, max: TOOLS_MAX }) ?? [];
  const chosen = list.map((value, index) => namedTool(new Fields(value, allowed.pathOf(`tools[${index}]`)), tools));
  return { mode, tools: chosen, isParallel };
}

/** The tool that a choice names. It must be among the request's tools. */
function namedTool(choice: Fields, tools: readonly FunctionTool[]): FunctionTool {
  const called = new Fields(choice.raw('function'), choice.pathOf('function'));
  const name = called.text('name');
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined)
    throw malformed(called.pathOf('name'), `\`${name}\` is not one of the \`tools\` of this request.`);
  return tool;
}
