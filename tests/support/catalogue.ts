/** A catalogue with one open and one reserved model at a scripted upstream, with prices that are easy to follow by hand. */
export function catalogueAt(baseUrl: string, model: Readonly<Record<string, unknown>> = {}) {
  const common = {
    provider: 'upstream',
    price: {
      inputMicrosPerMillion: 1_000_000,
      cachedInputMicrosPerMillion: 250_000,
      outputMicrosPerMillion: 4_000_000,
    },
    marginBasisPoints: 1_000,
    contextTokens: 128_000,
    maxOutputTokens: 1_000,
    timeoutMs: 60_000,
    outputLimitParameter: 'max_completion_tokens',
  };
  return {
    providers: { upstream: { kind: 'openai-compatible', baseUrl } },
    models: [
      { id: 'acme.large-1', providerModel: 'large-upstream', resale: 'open', ...common, ...model },
      { id: 'acme.secret-1', providerModel: 'secret-upstream', resale: 'reserved', ...common },
      { id: 'acme.off-1', providerModel: 'off-upstream', resale: 'open', enabled: false, ...common },
    ],
    aliases: { large: 'acme.large-1', secret: 'acme.secret-1', off: 'acme.off-1' },
  };
}

type Catalogue = Pick<ReturnType<typeof catalogueAt>, 'models' | 'aliases'>;

/** The same catalogue with models of embeddings: an open one, and a reserved one, whose input costs what that of the others does. */
export function withVectors<Given extends Catalogue>(catalogue: Given) {
  const vectors = catalogue.models.map(({ price, ...model }) => ({
    ...model,
    id: model.id.replace('acme.', 'acme.vectors-'),
    apis: ['embeddings'],
    price: { inputMicrosPerMillion: price.inputMicrosPerMillion, outputMicrosPerMillion: 0 },
    contextTokens: 8_192,
    maxOutputTokens: 1,
    dimensionsMax: 3_072,
  }));
  const names = ['vectors', 'secret-vectors', 'off-vectors'];
  const aliases = Object.fromEntries(vectors.map(({ id }, place) => [names[place] ?? id, id]));
  return { ...catalogue, models: [...catalogue.models, ...vectors], aliases: { ...catalogue.aliases, ...aliases } };
}

/** The cost of a call on the catalogue above in micros, calculated independently of the service's code. */
export function chargeFor(usage: { prompt: number; cached?: number; completion: number }): number {
  const cached = usage.cached ?? 0;
  const hundredths = (usage.prompt - cached) * 100 + cached * 25 + usage.completion * 400;
  return Math.ceil((hundredths * 11) / 1_000);
}

/** One micro a token, and a tenth of it from a cache: a charge is then easy to reckon. */
export const MICRO_A_TOKEN = {
  inputMicrosPerMillion: 1_000_000,
  cachedInputMicrosPerMillion: 100_000,
  outputMicrosPerMillion: 1_000_000,
} as const;
