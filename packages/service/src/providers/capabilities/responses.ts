import type { JsonObject } from '#kernel/text/json.ts';
import { MESSAGE_FIELDS } from '#providers/capabilities/messages.ts';
import {
  type Capabilities,
  type Find,
  is,
  LEAVE_OUT,
  never,
  refused,
  type Unsupported,
  WITHOUT_COUNTERPART,
} from '#providers/capabilities/rules.ts';
import { findInTools } from '#providers/capabilities/tools.ts';

const findInMessages: Find = (value) => {
  for (const [place, message] of (value as readonly JsonObject[]).entries()) {
    const path = `messages[${place}]`;
    const fields = MESSAGE_FIELDS[String(message['role'])];
    if (fields === undefined) return { path: `${path}.role`, advice: 'Use the role "tool" and `tool_calls`.' };
    const stray = Object.keys(message).find((name) => !fields.has(name) && (message[name] ?? null) !== null);
    if (stray === undefined) continue;
    const advice = stray === 'name' ? 'Put the name into the text of the message.' : LEAVE_OUT;
    return { path: `${path}.${stray}`, advice };
  }
  return undefined;
};

/** OpenAI and Azure refuse a smaller limit. */
const OUTPUT_TOKENS_MIN = 16;
const LIMITS = ['max_completion_tokens', 'max_tokens'];

/** A limit of the output that is too small for Responses, in a request of any wire. */
export function findShortLimit(request: JsonObject): Unsupported | undefined {
  const name = LIMITS.find((limit) => typeof request[limit] === 'number');
  if (name === undefined || Number(request[name]) >= OUTPUT_TOKENS_MIN) return undefined;
  return { path: name, advice: `Its provider takes ${OUTPUT_TOKENS_MIN} and above.` };
}

/** The capabilities of upstreams that serve Responses alone, for a caller of chat completions. */
export const RESPONSES: Capabilities = {
  ...WITHOUT_COUNTERPART,
  frequency_penalty: refused('frequency_penalty', is(0), 'unless 0'),
  messages: { does: 'translated', words: 'no `name`, no cache marks', find: findInMessages },
  parallel_tool_calls: { does: 'forwarded' },
  presence_penalty: refused('presence_penalty', is(0), 'unless 0'),
  prompt_cache_key: { does: 'forwarded' },
  reasoning_effort: { does: 'translated', words: 'to `reasoning.effort`' },
  response_format: { does: 'translated', words: 'to `text.format`' },
  safety_identifier: { does: 'forwarded' },
  seed: refused('seed', never),
  stop: refused('stop', never),
  temperature: { does: 'forwarded' },
  tool_choice: { does: 'translated' },
  tools: { does: 'translated', find: (value) => findInTools(value, () => undefined) },
  top_p: { does: 'forwarded' },
  verbosity: { does: 'translated', words: 'to `text.verbosity`' },
};
