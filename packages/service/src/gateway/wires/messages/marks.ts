import type { Takes } from '#gateway/call/wire.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const MARKED_TOOLS = [{ type: 'function', function: { name: 'a' }, ...MARK }];
const MARKED_MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'a', ...MARK }] }];

/** The request without the cache marks that the model's vendors do not take: agents send them to every model, and they change no answer. */
export function withoutMarksNotTaken(request: JsonObject, takes: Takes): JsonObject {
  let kept = request;
  for (const [name, marked] of [
    ['tools', MARKED_TOOLS],
    ['messages', MARKED_MESSAGES],
  ] as const) {
    const list = request[name];
    if (!Array.isArray(list) || takes.parameter(name, marked)) continue;
    kept = { ...kept, [name]: (list as readonly unknown[]).map(withoutMark) };
  }
  return kept;
}

/** A message or a tool has marks of its own, and its parts have some. */
function withoutMark(item: unknown): unknown {
  if (!isJsonObject(item)) return item;
  const { cache_control: _mark, ...rest } = item;
  return Array.isArray(rest['content']) ? { ...rest, content: rest['content'].map(withoutMark) } : rest;
}
