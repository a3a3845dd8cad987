// Servers that make vectors in formats of their own: the Gemini API, Vertex AI, Bedrock and Mistral, as their vendors document them.
// Each is strict where its vendor is. A text has as many tokens as letters, and its vector begins with that number.
import type { RecordedRequest, UpstreamScript } from '../../../support/scripted-upstream.ts';
import { signatureFault } from './aws-signature.ts';
import { BEDROCK_ACCOUNT } from './bedrock.ts';

type Json = Readonly<Record<string, unknown>>;

export const KEYS = {
  GEMINI_TEST_API_KEY: 'gemini-key',
  VERTEX_TEST_TOKEN: 'ya29.token',
  MISTRAL_TEST_API_KEY: 'm-key',
};
const VERTEX = '/v1/projects/shop-1/locations/europe-west4/publishers/google/models/';

/** The providers at an origin, for a catalogue. */
export function providersAt(origin: string) {
  return {
    google: { kind: 'google', baseUrl: `${origin}/v1beta`, apiKeyEnv: 'GEMINI_TEST_API_KEY' },
    vertex: {
      kind: 'vertex',
      project: 'shop-1',
      location: 'europe-west4',
      endpoint: origin,
      apiKeyEnv: 'VERTEX_TEST_TOKEN',
    },
    bedrock: { kind: 'bedrock', region: BEDROCK_ACCOUNT.region, endpoint: origin },
    mistral: { kind: 'mistral', baseUrl: `${origin}/v1`, apiKeyEnv: 'MISTRAL_TEST_API_KEY' },
  };
}

interface Manner {
  /** The counts of tokens are left out. */
  readonly isSilent?: boolean;
  /** The text for which a request fails. */
  readonly fails?: string;
}

export function vectorsOf(request: RecordedRequest, manner: Manner = {}): UpstreamScript {
  const { path, body, headers } = request;
  const asked = (body ?? {}) as Json;
  if (manner.fails !== undefined && request.rawBody.includes(JSON.stringify(manner.fails)))
    return failed(503, 'UNAVAILABLE');
  if (path.startsWith('/v1beta/')) {
    return headers['x-goog-api-key'] === KEYS.GEMINI_TEST_API_KEY ? gemini(path, asked, manner) : failed(400, 'KEY');
  }
  if (path.startsWith(VERTEX)) {
    const isKnown = headers.authorization === `Bearer ${KEYS.VERTEX_TEST_TOKEN}`;
    return isKnown ? vertex(path.slice(VERTEX.length), asked, manner) : failed(401, 'UNAUTHENTICATED');
  }
  if (path === '/v1/embeddings') return mistral(asked);
  const [, model] = /^\/model\/([^/]+)\/invoke$/.exec(path) ?? [];
  if (model === undefined) return failed(404, 'NOT_FOUND');
  const wrong = signatureFault(request, BEDROCK_ACCOUNT);
  return wrong === undefined ? bedrock(decodeURIComponent(model), asked, manner) : failed(403, wrong);
}

const vectorOf = (text: string, size = 3): readonly number[] =>
  Array.from({ length: size }, (_, place) => (place === 0 ? text.length : -0.5));
const tokensOf = (texts: readonly string[]): number => texts.join('').length;
const json = (body: unknown, more = {}): UpstreamScript => ({
  headers: { 'content-type': 'application/json', ...more },
  body: JSON.stringify(body, null, 2),
});

function failed(code: number, status: string): UpstreamScript {
  return { status: code, body: JSON.stringify({ error: { code, status, message: 'CANARY' } }) };
}

function keysAre(object: Json, ...known: string[]): boolean {
  return Object.keys(object).every((name) => known.includes(name));
}

function textIn(content: unknown): string {
  const [part, more] = (content as { parts: readonly Json[] }).parts;
  if (more !== undefined || typeof part?.['text'] !== 'string') throw new Error('One text is one part.');
  return part['text'];
}

function gemini(path: string, { requests }: Json, { isSilent }: Manner): UpstreamScript {
  const [, model] = /^\/v1beta\/(models\/[\w.-]+):batchEmbedContents$/.exec(path) ?? [];
  const list = requests as readonly Json[];
  const isRight = list.every(
    (one) => one['model'] === model && keysAre(one, 'model', 'content', 'outputDimensionality'),
  );
  if (!isRight || list.length > 100) return failed(400, 'INVALID_ARGUMENT');
  const texts = list.map(({ content }) => textIn(content));
  const sizes = list.map(({ outputDimensionality: size }) => size as number | undefined);
  const usageMetadata = { promptTokenCount: tokensOf(texts) };
  return json({
    embeddings: texts.map((text, place) => ({ values: vectorOf(text, sizes[place]) })),
    ...(isSilent === true ? {} : { usageMetadata }),
  });
}

function vertex(end: string, body: Json, { isSilent }: Manner): UpstreamScript {
  const [model = '', action] = end.split(':');
  const isNewer = model === 'gemini-embedding-2';
  if (action === 'embedContent' && isNewer) {
    const config = body['embedContentConfig'] as Json;
    if (!keysAre(body, 'content', 'embedContentConfig') || config['autoTruncate'] !== false)
      return failed(400, 'INVALID_ARGUMENT');
    const text = textIn(body['content']);
    const embedding = { values: vectorOf(text, config['outputDimensionality'] as number | undefined) };
    const usageMetadata = { promptTokenCount: text.length, totalTokenCount: text.length };
    return json({ embedding, truncated: false, ...(isSilent === true ? {} : { usageMetadata }) });
  }
  const instances = body['instances'] as readonly Json[];
  const parameters = body['parameters'] as Json;
  const most = model === 'gemini-embedding-001' ? 1 : 250;
  const isRight = action === 'predict' && !isNewer && parameters['autoTruncate'] === false;
  if (!isRight || instances.length > most) return failed(400, 'INVALID_ARGUMENT');
  const predictions = instances.map(({ content }) => {
    const text = String(content);
    const statistics = { truncated: false, token_count: text.length };
    return {
      embeddings: { values: vectorOf(text, parameters['outputDimensionality'] as number | undefined), statistics },
    };
  });
  return json({ predictions, metadata: { billableCharacterCount: 1 } });
}

function bedrock(model: string, body: Json, { isSilent }: Manner): UpstreamScript {
  if (model.startsWith('cohere.embed-')) {
    const { texts, input_type: type, truncate, output_dimension: size } = body;
    const list = texts as readonly string[];
    if (type !== 'search_document' || truncate !== 'NONE' || list.length > 96)
      return failed(400, 'ValidationException');
    const count = isSilent === true ? {} : { 'x-amzn-bedrock-input-token-count': String(tokensOf(list)) };
    const embeddings = list.map((text) => vectorOf(text, size as number | undefined));
    return json({ id: 'a', response_type: 'embeddings_floats', texts, embeddings }, count);
  }
  const { inputText, dimensions } = body;
  if (typeof inputText !== 'string' || !keysAre(body, 'inputText', 'dimensions', 'normalize'))
    return failed(400, 'ValidationException');
  const embedding = vectorOf(inputText, dimensions as number | undefined);
  return json({ embedding, inputTextTokenCount: inputText.length, embeddingsByType: { float: embedding } });
}

function mistral({ input, model, ...more }: Json): UpstreamScript {
  const texts = [input].flat() as readonly string[];
  if (texts.some((text) => typeof text !== 'string') || !keysAre(more, 'encoding_format', 'output_dimension'))
    return { status: 422, body: '{"detail":[]}' };
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: vectorOf(text, more['output_dimension'] as number | undefined),
  }));
  const usage = { prompt_tokens: tokensOf(texts), completion_tokens: 0, total_tokens: tokensOf(texts) };
  return json({ id: 'a', object: 'list', data, model, usage });
}
