import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { Outcome } from '#sandbox/answers/outcomes.ts';

/** The numbers of a vector if the request does not say how many it wants. */
const DIMENSIONS = 8;

interface EmbeddingsCall {
  readonly promptTokens: number;
  /** How many texts are embedded. */
  readonly inputs: number;
  /** The caller's request, as JSON. */
  readonly text: string;
}

/** Builds vectors in the form in which providers give theirs to the gateway. Each is the same, and has the length 1. */
export function cannedEmbeddings({ promptTokens, inputs, text }: EmbeddingsCall, { reportsUsage }: Outcome) {
  const asked = parseJson(text);
  const { dimensions = DIMENSIONS } = isJsonObject(asked) ? asked : {};
  const count = Number(dimensions);
  const embedding = Array.from({ length: count }, (_, place) => (place % 2 === 0 ? 1 : -1) / Math.sqrt(count));
  const data = Array.from({ length: inputs }, (_, index): JsonObject => ({ object: 'embedding', index, embedding }));
  const counts = { prompt: promptTokens, completion: 0, total: promptTokens };
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' as const }],
    usage: reportsUsage ? { counts, extra: {}, isContradictory: false } : undefined,
    extra: {},
    native: { object: 'list', data },
  };
}
