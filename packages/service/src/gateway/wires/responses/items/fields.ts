import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A citation in the form of this wire. Undefined if it is none that the wire has. */
export function annotationOf({ type, url_citation: url, file_citation: file }: JsonObject): JsonObject | undefined {
  if (isJsonObject(url) && typeof url['url'] === 'string') {
    const { start_index: start, end_index: end, title } = url;
    return {
      type: 'url_citation',
      start_index: wholeOf(start),
      end_index: wholeOf(end),
      url: url['url'],
      title: typeof title === 'string' ? title : '',
    };
  }
  if (type !== 'file_citation' || !isJsonObject(file)) return undefined;
  const { file_id: id, filename: name, index } = file;
  return { type, file_id: String(id), filename: typeof name === 'string' ? name : '', index: wholeOf(index) };
}

function wholeOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : 0;
}

/** The probabilities of the tokens of a choice, in the form of this wire. */
export function tokensOf(logprobs: unknown): readonly JsonObject[] {
  if (!isJsonObject(logprobs)) return [];
  const tokens = logprobs['content'] ?? logprobs['refusal'];
  return Array.isArray(tokens) ? tokens.filter(isJsonObject).map(tokenOf) : [];
}

function tokenOf({ token, logprob, bytes, top_logprobs: others }: JsonObject): JsonObject {
  const top = Array.isArray(others) ? others.filter(isJsonObject).map(tokenAlone) : [];
  return { ...tokenAlone({ token, logprob, bytes }), top_logprobs: top };
}

function tokenAlone({ token, logprob, bytes }: JsonObject): JsonObject {
  const text = typeof token === 'string' ? token : '';
  return { token: text, logprob, bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(text)] };
}
