import type { JsonObject } from '#kernel/text/json.ts';
import {
  type Capabilities,
  type Find,
  is,
  LEAVE_OUT,
  refused,
  type Unsupported,
  WITHOUT_COUNTERPART,
} from '#providers/capabilities/rules.ts';
import { findInTools } from '#providers/capabilities/tools.ts';

/** Fields of a message that Mistral has a place for, by role. `annotations` are echoes of an answer: they stay here. */
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(['role', 'content']),
  developer: new Set(['role', 'content']),
  user: new Set(['role', 'content']),
  tool: new Set(['role', 'content', 'name', 'tool_call_id']),
  assistant: new Set(['role', 'content', 'refusal', 'tool_calls', 'annotations', 'reasoning_content']),
};

const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'index', 'type', 'function']);

const findInMessages: Find = (value) => {
  for (const [place, message] of (value as readonly JsonObject[]).entries()) {
    const found = findInMessage(message, `messages[${place}]`);
    if (found !== undefined) return found;
  }
  return undefined;
};

function findInMessage(message: JsonObject, path: string): Unsupported | undefined {
  const fields = FIELDS[String(message['role'])];
  if (fields === undefined) return { path: `${path}.role`, advice: 'Use the role "tool" and `tool_calls`.' };
  for (const name of Object.keys(message)) {
    if (!isGiven(message[name]) || fields.has(name)) continue;
    return {
      path: `${path}.${name}`,
      advice: name === 'name' ? 'Put the name into the text of the message.' : LEAVE_OUT,
    };
  }
  for (const [place, call] of listOf(message['tool_calls']).entries()) {
    const unknown = Object.keys(call).find((name) => !CALL_FIELDS.has(name) && isGiven(call[name]));
    if (unknown !== undefined) return { path: `${path}.tool_calls[${place}].${unknown}`, advice: LEAVE_OUT };
  }
  const parts = listOf(message['content']);
  const other = parts.findIndex(({ type }) => type !== 'text' && type !== 'image_url');
  if (other >= 0) return { path: `${path}.content[${other}]`, advice: 'Send text and images.' };
  const marked = parts.findIndex(({ cache_control: mark }) => isGiven(mark));
  return marked < 0 ? undefined : { path: `${path}.content[${marked}].cache_control`, advice: LEAVE_OUT };
}

function findMarked(tools: unknown): Unsupported | undefined {
  const marked = (tools as readonly JsonObject[]).findIndex(({ cache_control: mark }) => isGiven(mark));
  return marked < 0 ? undefined : { path: `tools[${marked}].cache_control`, advice: LEAVE_OUT };
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

/** Whether a value is given. An empty list counts as none. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

const findChoice: Find = (value) => {
  const type = typeof value === 'object' && value !== null ? (value as JsonObject)['type'] : 'function';
  return type === 'function' ? undefined : { path: 'tool_choice', advice: 'Name one function, or none.' };
};

/** The capabilities of kind `mistral`. */
export const MISTRAL: Capabilities = {
  ...WITHOUT_COUNTERPART,
  frequency_penalty: { does: 'forwarded' },
  messages: {
    does: 'translated',
    words: 'developer as system messages, ids of tool calls shortened to 9 characters; no `name`',
    find: findInMessages,
  },
  n: { does: 'forwarded' },
  parallel_tool_calls: { does: 'forwarded' },
  presence_penalty: { does: 'forwarded' },
  reasoning_effort: {
    does: 'forwarded',
    words: '"none" and "high"; "medium" is not sent',
    find: (value) =>
      is('none', 'high', 'medium')(value)
        ? undefined
        : { path: 'reasoning_effort', advice: 'Its provider takes "none" and "high".' },
  },
  response_format: { does: 'forwarded' },
  safety_identifier: { does: 'kept' },
  seed: {
    does: 'translated',
    words: 'to `random_seed`; not below 0',
    find: (value) => (Number(value) >= 0 ? undefined : { path: 'seed', advice: 'Its provider takes 0 and above.' }),
  },
  stop: { does: 'forwarded' },
  temperature: {
    does: 'forwarded',
    words: '0 to 1.5',
    find: (value) =>
      Number(value) <= 1.5 ? undefined : { path: 'temperature', advice: 'Its provider takes 0 to 1.5.' },
  },
  tool_choice: { does: 'translated', words: '"required" to "any"; no `allowed_tools`', find: findChoice },
  tools: { does: 'forwarded', find: (value) => findMarked(value) ?? findInTools(value, () => undefined) },
  top_p: { does: 'forwarded' },
  verbosity: refused('verbosity', is('medium'), 'unless "medium"'),
};
