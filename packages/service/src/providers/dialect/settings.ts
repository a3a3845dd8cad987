import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { CallSettings } from '#providers/dialect/dialect.ts';

/** Settings that several dialects make in the same way, of a request that the table of capabilities lets pass. */

/**
 * Returns the settings from `temperature` and `top_p`. At their default of 1 they say nothing: some models refuse even
 * that.
 */
export function samplingOf({ temperature, top_p: topP }: JsonObject, { isAlone }: { isAlone: boolean }): CallSettings {
  const isSet = (value: unknown): value is number => typeof value === 'number' && (!isAlone || value !== 1);
  return { ...(isSet(temperature) ? { temperature } : {}), ...(isSet(topP) ? { topP } : {}) };
}

/** Returns the setting from `stop`, which is one text, or several. */
export function stopOf({ stop }: JsonObject): CallSettings {
  if (typeof stop === 'string') return { stopSequences: [stop] };
  return Array.isArray(stop) && stop.length > 0 ? { stopSequences: stop as string[] } : {};
}

/** The JSON schema of the answer. The description that the format gives it beside goes into it. */
export function schemaOf({ response_format: format }: JsonObject): JsonObject | undefined {
  const described = isJsonObject(format) ? format['json_schema'] : undefined;
  const schema = isJsonObject(described) ? described['schema'] : undefined;
  if (!isJsonObject(described) || !isJsonObject(schema)) return undefined;
  const { description } = described;
  const isNew = typeof description === 'string' && schema['description'] === undefined;
  return isNew ? { ...schema, description } : schema;
}
