import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/** What a caller of embeddings asks for, read again for a vendor of another format. */
interface Asked {
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
  /** The request beside its texts. */
  readonly settings: JsonObject;
}

/** Reads the caller's own request for a vendor of texts alone. Tokens by their numbers were refused before. */
export function askedOf({ native }: Pick<ProviderCall, 'native'>): Asked {
  const request = parseJson(native?.text ?? '');
  if (!isJsonObject(request)) throw new Error('Embeddings have the form of their caller.');
  const { input, ...settings } = request;
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (!texts.every((text) => typeof text === 'string')) throw new Error('These embeddings are of texts alone.');
  const { dimensions } = settings;
  return { texts, dimensions: typeof dimensions === 'number' ? dimensions : undefined, settings };
}

/** The same call for some of its texts. */
export function callFor(call: ProviderCall, texts: readonly string[], settings: JsonObject): ProviderCall {
  const request = { ...call.request, messages: [{ role: 'user', content: texts }] };
  return { ...call, request, native: { api: 'embeddings', text: JSON.stringify({ input: texts, ...settings }) } };
}
