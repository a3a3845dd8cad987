import { bytesOf, FRAME_BYTES_MAX, piecesOf, TEXT_BYTES_MAX } from '#gateway/output/frame-length.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What of a frame is for text, at least, if the rest of it is unusually long. */
const TEXT_BYTES_MIN = 8_000;

/**
 * The choices of a chunk that is too long, in several chunks that mean the same: clients join the texts of deltas, the arguments of
 * calls and the items of lists. What ends a choice is in its last one. `besideBytes` is the size of a frame without choices.
 */
export function inShortChunks(choices: readonly JsonObject[], besideBytes: number): readonly JsonObject[] {
  const bytesMax = Math.max(TEXT_BYTES_MIN, Math.min(TEXT_BYTES_MAX, FRAME_BYTES_MAX - besideBytes - 100));
  return choices.flatMap((choice) => shortChoices(choice, bytesMax));
}

function shortChoices(
  { delta, logprobs, finish_reason: reason, ...rest }: JsonObject,
  bytesMax: number,
): readonly JsonObject[] {
  const hasTokens = isJsonObject(logprobs);
  const common = hasTokens || logprobs === undefined ? rest : { ...rest, logprobs };
  const deltas = packed(isJsonObject(delta) ? unitsOf(delta, bytesMax) : [], bytesMax);
  const tokens = hasTokens ? packed(tokensOf(logprobs), bytesMax) : [];
  const parts = [
    ...(deltas.length === 0 ? [{ delta: {} }] : deltas.map((part) => ({ delta: part }))),
    ...tokens.map((part) => ({ delta: {}, logprobs: part })),
  ];
  const last = parts.length - 1;
  return parts.map((part, place) => ({ ...common, ...part, finish_reason: place === last ? reason : null }));
}

/** The smallest parts that a delta can be cut into, in its own order. */
function unitsOf(delta: JsonObject, bytesMax: number): readonly JsonObject[] {
  return Object.entries(delta).flatMap(([name, value]): readonly JsonObject[] => {
    if (typeof value === 'string') return piecesOf(value, bytesMax).map((piece) => ({ [name]: piece }));
    if (name === 'function_call' && isJsonObject(value)) {
      return cutAt(value, 'arguments', bytesMax).map((piece) => ({ [name]: piece }));
    }
    if (!Array.isArray(value)) return [{ [name]: value }];
    const cut = name === 'tool_calls' ? cutCall : name === 'reasoning_details' ? cutReasoning : undefined;
    const items = value.flatMap((item) => (cut !== undefined && isJsonObject(item) ? cut(item, bytesMax) : [item]));
    return items.length === 0 ? [{ [name]: value }] : items.map((item) => ({ [name]: [item] }));
  });
}

/** The first part has everything but the rest of the text, later ones have the number of the call and a piece of it. */
function cutCall(call: JsonObject, bytesMax: number): readonly JsonObject[] {
  for (const [name, text] of [
    ['function', 'arguments'],
    ['custom', 'input'],
  ] as const) {
    const called = call[name];
    if (!isJsonObject(called)) continue;
    const { index } = call;
    return cutAt(called, text, bytesMax).map((piece, place) =>
      place === 0 ? { ...call, [name]: piece } : { index, [name]: piece },
    );
  }
  return [call];
}

function cutAt(object: JsonObject, name: string, bytesMax: number): readonly JsonObject[] {
  const text = object[name];
  if (typeof text !== 'string') return [object];
  return piecesOf(text, bytesMax).map((piece, place) =>
    place === 0 ? { ...object, [name]: piece } : { [name]: piece },
  );
}

/** Items of one index are pieces of one block. Its seal is behind the whole text. */
function cutReasoning(item: JsonObject, bytesMax: number): readonly JsonObject[] {
  const name = typeof item['text'] === 'string' ? 'text' : 'summary';
  const text = item[name];
  if (typeof text !== 'string') return [item];
  const { signature: _signature, data: _data, ...labels } = item;
  const pieces = piecesOf(text, bytesMax);
  return pieces.map((piece, place) => ({ ...(place === pieces.length - 1 ? item : labels), [name]: piece }));
}

function tokensOf(logprobs: JsonObject): readonly JsonObject[] {
  return Object.entries(logprobs).flatMap(([name, list]): readonly JsonObject[] =>
    Array.isArray(list) && list.length > 0 ? list.map((token: unknown) => ({ [name]: [token] })) : [{ [name]: list }],
  );
}

/** Units joined again as long as they fit together. Lists grow; what was cut for its length stays apart. */
function packed(units: readonly JsonObject[], bytesMax: number): readonly JsonObject[] {
  const parts: Record<string, unknown>[] = [];
  let bytes = 0;
  for (const unit of units) {
    const size = bytesOf(unit);
    const part = parts.at(-1);
    const entries = Object.entries(unit);
    if (
      part === undefined ||
      bytes + size > bytesMax ||
      !entries.every(([name, value]) => isApart(part[name], value))
    ) {
      parts.push({ ...unit });
      bytes = size;
      continue;
    }
    bytes += size;
    for (const [name, value] of entries) {
      const before = part[name];
      part[name] = isList(before) && isList(value) ? [...before, ...value] : value;
    }
  }
  return parts;
}

/** Whether a value can stand beside what a part already has under its name. Pieces of one item have its number. */
function isApart(before: unknown, value: unknown): boolean {
  if (before === undefined) return true;
  if (!isList(before) || !isList(value)) return false;
  const [last, next] = [before.at(-1), value[0]];
  if (!isJsonObject(last) || !isJsonObject(next)) return true;
  return last['index'] === undefined || last['index'] !== next['index'];
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
