import { randomUUID } from 'node:crypto';
import type { ChatRequest } from './chat-request.ts';
import { lastUserText } from './prose.ts';
import { instanceOf } from './schema-instance.ts';
import { CHARACTERS_PER_TOKEN, countTokens, cutToTokens } from './tokens.ts';
import type { FunctionTool } from './tool.ts';

/** One call of a function in an answer. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments are JSON, unless the token limit has cut it short. */
  readonly arguments: string;
}

const CALLS_MAX = 16;

/**
 * Decides which tools an answer calls. In the mode `required`, it calls the tools that the last user message names, or else
 * the first tool (all tools if parallel calls are allowed). In the mode `auto`, it calls only tools that the message names,
 * and none after a tool has answered, so that an agent's loop ends.
 */
export function planToolCalls({ toolPlan, messages }: ChatRequest): readonly Omit<ToolCall, 'id'>[] {
  const { mode, tools, isParallel } = toolPlan;
  if (mode === 'none') return [];
  if (mode === 'auto' && messages.at(-1)?.role === 'tool') return [];

  const asked = lastUserText(messages);
  const named = tools.filter((tool) => asked.includes(tool.name));
  const chosen = named.length === 0 && mode === 'required' ? tools : named;
  return chosen.slice(0, isParallel ? CALLS_MAX : 1).map(callWithExample);
}

/** A call with the smallest arguments that fit the tool's schema. Arguments are always an object, even if the schema says otherwise. */
function callWithExample({ name, parameters }: FunctionTool): Omit<ToolCall, 'id'> {
  return { name, arguments: JSON.stringify(instanceOf({ type: 'object', ...(parameters as object) })) };
}

/**
 * The calls that fit the token limit, each with its own id. The last one may have its arguments cut short, as a real model
 * cuts them, so that apps can test what they do with invalid JSON. A name is never cut: such a call is left out.
 */
export function fitToolCalls(
  planned: readonly Omit<ToolCall, 'id'>[],
  tokensMax: number,
): { readonly calls: readonly ToolCall[]; readonly tokens: number; readonly isCut: boolean } {
  const calls: ToolCall[] = [];
  let tokens = 0;
  for (const call of planned) {
    const id = `call_${randomUUID().replaceAll('-', '')}`;
    const wholeTokens = tokensOf(call);
    const tokensLeft = tokensMax - tokens;
    if (wholeTokens > tokensLeft) {
      const isNameCut = call.name.length > tokensLeft * CHARACTERS_PER_TOKEN;
      if (isNameCut) return { calls, tokens, isCut: true };
      const cut = cutToTokens(call.name + call.arguments, tokensLeft).slice(call.name.length);
      return { calls: [...calls, { id, name: call.name, arguments: cut }], tokens: tokensMax, isCut: true };
    }
    calls.push({ id, ...call });
    tokens += wholeTokens;
  }
  return { calls, tokens, isCut: false };
}

/** A call costs the tokens of its name and arguments. Its id is free. */
function tokensOf(call: Omit<ToolCall, 'id'>): number {
  return countTokens(call.name + call.arguments);
}
