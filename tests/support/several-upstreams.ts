// Models that are served by several scripted upstreams, with prices that are easy to follow by hand.
import type { RecordedRequest, ScriptedUpstream, UpstreamScript } from './scripted-upstream.ts';

export interface UpstreamEntry {
  readonly provider: string;
  /** Micros for each token, input and output. */
  readonly micros: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The same model as one of embeddings. */
export function asVectors(model: ReturnType<typeof catalogueOf>['models'][number]) {
  const upstreams = model.upstreams.map((one) => ({ ...one, price: { ...one.price, outputMicrosPerMillion: 0 } }));
  return { ...model, apis: ['embeddings'], maxOutputTokens: 1, dimensionsMax: 8, upstreams };
}

/** A catalogue with these models. Each has a name of its own at its providers, so that no breaker is shared. */
export function catalogueOf(
  providers: Readonly<Record<string, ScriptedUpstream>>,
  models: Readonly<Record<string, readonly UpstreamEntry[]>>,
  limits: Readonly<Record<string, object>> = {},
) {
  return {
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, { baseUrl }]) => [
        name,
        { kind: 'openai-compatible', baseUrl, ...(limits[name] && { limits: limits[name] }) },
      ]),
    ),
    models: Object.entries(models).map(([name, upstreams]) => ({
      id: `acme.${name}`,
      resale: 'open',
      contextTokens: 100_000,
      promptOverheadTokens: 0,
      maxOutputTokens: 100,
      timeoutMs: 10_000,
      upstreams: upstreams.map(({ provider, micros, fields }) => ({
        provider,
        providerModel: `${name}-upstream`,
        price: { inputMicrosPerMillion: micros * 1_000_000, outputMicrosPerMillion: micros * 1_000_000 },
        ...fields,
      })),
    })),
    aliases: {},
  };
}

type Answer = UpstreamScript | ((request: RecordedRequest) => UpstreamScript);

/** Scripts for each provider's name of a model. A model without one is answered 500. */
export function scriptModels(upstream: ScriptedUpstream) {
  const scripts = new Map<string, Answer>();
  upstream.script((request) => {
    const answer = scripts.get(modelOf(request.body)) ?? { status: 500, body: '{}' };
    return typeof answer === 'function' ? answer(request) : answer;
  });
  return {
    script: (model: string, script: Answer) => void scripts.set(`${model}-upstream`, script),
    /** How many requests for this model came. */
    count: (model: string) => upstream.requests.filter(({ body }) => modelOf(body) === `${model}-upstream`).length,
  };
}

function modelOf(body: unknown): string {
  return String((body as { model?: unknown }).model);
}
