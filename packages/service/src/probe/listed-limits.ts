import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';

/** What a server says about a model in its list of models. */
export interface ListedLimits {
  readonly contextTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** The names that servers use: vLLM, OpenRouter and Together, Groq, Mistral, LM Studio, llama.cpp. */
const CONTEXT: readonly (readonly string[])[] = [
  ['max_model_len'],
  ['context_length'],
  ['context_window'],
  ['max_context_length'],
  ['loaded_context_length'],
  ['meta', 'n_ctx'],
];
const OUTPUT: readonly (readonly string[])[] = [['max_completion_tokens'], ['top_provider', 'max_completion_tokens']];
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const ANSWER_MS_MAX = 15_000;

/** Reads the answer of `GET /models`. Undefined if it says nothing about this model. */
function limitsIn(text: string, providerModel: string): ListedLimits | undefined {
  const answer = parseJson(text);
  const models = isJsonObject(answer) ? answer['data'] : answer;
  const entries = Array.isArray(models) ? models.filter(isJsonObject) : [];
  const entry = entries.find(({ id }) => id === providerModel);
  if (entry === undefined) return undefined;
  const limits = { contextTokens: firstIn(entry, CONTEXT), outputTokens: firstIn(entry, OUTPUT) };
  return limits.contextTokens === undefined && limits.outputTokens === undefined ? undefined : limits;
}

/** Asks a server for its list of models. Undefined if there is none: the list proves nothing by its absence. */
export async function fetchLimits(
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
  providerModel: string,
): Promise<ListedLimits | undefined> {
  const { EnvHttpProxyAgent, request } = await import('undici'); // No gateway process needs it.
  const agent = new EnvHttpProxyAgent({ maxResponseSize: ANSWER_BYTES_MAX });
  try {
    const { statusCode, body } = await request(`${baseUrl.replace(/\/+$/, '')}/models`, {
      dispatcher: agent,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers,
    });
    const text = await body.text();
    return statusCode === 200 ? limitsIn(text, providerModel) : undefined;
  } catch {
    return undefined;
  } finally {
    await agent.destroy();
  }
}

function firstIn(entry: JsonObject, paths: readonly (readonly string[])[]): number | undefined {
  for (const path of paths) {
    let value: unknown = entry;
    for (const step of path) value = isJsonObject(value) ? value[step] : undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  }
  return undefined;
}
