import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/**
 * The text by which a repeat without a key is found (CC-14). Names are sorted, and `client_metadata` is left out: Codex repeats a call
 * with its names in another order.
 */
export function joiningText({ client_metadata: _metadata, ...body }: JsonObject): string {
  return JSON.stringify(body, (_name, value: unknown) => (isJsonObject(value) ? sorted(value) : value));
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
