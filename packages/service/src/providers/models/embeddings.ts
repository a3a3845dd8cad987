/** The kinds whose format has no tokens by their numbers. */
export type TextKind = 'mistral' | 'google' | 'vertex' | 'bedrock';

/** What one request for vectors may ask for, as the vendors document it. */
interface VectorModel {
  /** The most texts of one request. */
  readonly textsMax: number;
  /** The sizes of vectors that can be asked for. It is empty if none can, and undefined if the vendor decides. */
  readonly dimensions?: readonly number[];
}

const CALLERS_MAX = 2_048;
const NONE: readonly number[] = [];

export function vectorModelOf(kind: TextKind, providerModel: string): VectorModel {
  switch (kind) {
    case 'mistral':
      return { textsMax: CALLERS_MAX };
    case 'google':
      return { textsMax: 100 };
    case 'vertex':
      return { textsMax: vertexActionOf(providerModel) === 'predict' && !isGemini1(providerModel) ? 250 : 1 };
    case 'bedrock':
      return BEDROCK[bedrockFamilyOf(providerModel)];
  }
}

type BedrockFamily = 'cohere-4' | 'cohere' | 'nova' | 'titan-1' | 'titan';

const BEDROCK: Readonly<Record<BedrockFamily, VectorModel>> = {
  'cohere-4': { textsMax: 96, dimensions: [256, 512, 1_024, 1_536] },
  cohere: { textsMax: 96, dimensions: NONE },
  nova: { textsMax: 1, dimensions: [256, 384, 1_024, 3_072] },
  'titan-1': { textsMax: 1, dimensions: NONE },
  titan: { textsMax: 1, dimensions: [256, 512, 1_024] },
};

/** The family of a model. A name that says nothing, such as that of a profile, is taken for Titan, as the library takes it. */
export function bedrockFamilyOf(providerModel: string): BedrockFamily {
  if (providerModel.includes('cohere.embed-v4')) return 'cohere-4';
  if (providerModel.includes('cohere.embed-')) return 'cohere';
  if (providerModel.includes('amazon.nova-')) return 'nova';
  return /titan-embed-(?:text-v1|g1)/.test(providerModel) ? 'titan-1' : 'titan';
}

/** How Vertex is asked for a vector of a model: by the interface of today, or by the one of all older models. */
export function vertexActionOf(providerModel: string): 'embedContent' | 'predict' {
  const isNewer = providerModel.includes('gemini') && !isGemini1(providerModel);
  return isNewer || providerModel.includes('maas') ? 'embedContent' : 'predict';
}

function isGemini1(providerModel: string): boolean {
  return providerModel === 'gemini-embedding-001';
}
