const MODEL = {
  id: 'roll.model-1',
  provider: 'roll',
  resale: 'open',
  providerModel: 'roll-upstream',
  price: { inputMicrosPerMillion: 1_000_000, outputMicrosPerMillion: 4_000_000 },
  contextTokens: 128_000,
  maxOutputTokens: 1_000,
};

/** A catalogue with the one model of `provider.ts`, under the name `roll`. */
export function rollCatalogue(providerUrl: string) {
  return {
    providers: { roll: { kind: 'openai-compatible', baseUrl: `${providerUrl}/v1` } },
    models: [MODEL],
    aliases: { roll: MODEL.id },
  };
}
