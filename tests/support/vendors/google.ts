import { createGeminiWire, type GeminiOptions } from '../gemini/answers.ts';
import { startTokenServer } from '../gemini/token-server.ts';
import type { GeminiAnswer, Json, Part, UsageMetadata } from '../gemini/wire.ts';
import { type Billed, PIXEL, SCHEMA_ANSWER, type Vendor } from './vendor.ts';

/** Gemini's format, as ai.google.dev documents it: at the Gemini API, and on Vertex by tokens of a service account. */

const KEY = 'gemini-test-key';

export const google: Vendor = {
  kind: 'google',
  providerAt: (origin) => ({ kind: 'google', baseUrl: `${origin}/v1beta`, apiKeyEnv: 'GEMINI_TEST_API_KEY' }),
  environment: { GEMINI_TEST_API_KEY: KEY },
  models: { plain: 'gemini-3.5-flash', old: 'gemini-2.5-flash' },
  hasWholeArguments: true,
  answer: answerOf({ apiKey: KEY }),
};

/** `write` puts a text into a file and returns its path. */
export async function startVertex(write: (name: string, text: string) => string) {
  const { serviceAccount, takesToken, close } = await startTokenServer();
  const credentialsFile = write('vertex.json', JSON.stringify(serviceAccount));
  const place = { project: 'shop-1', location: 'europe-west4' };
  const vendor: Vendor = {
    ...google,
    kind: 'vertex',
    providerAt: (origin) => ({ kind: 'vertex', ...place, endpoint: origin, credentialsFile }),
    environment: {},
    answer: answerOf({ vertex: { ...place, takesToken } }),
  };
  return { vendor, close };
}

const BILLED: Billed = { input: 101, cacheRead: 2_003, cacheWrite: 0, cacheWriteLong: 0, output: 57 + 211 };

/** Thoughts lie beside the candidates, and only the total has both. */
const USAGE: UsageMetadata = {
  promptTokenCount: 2_104,
  cachedContentTokenCount: 2_003,
  candidatesTokenCount: 57,
  thoughtsTokenCount: 211,
  totalTokenCount: 2_372,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 2_104 }],
  cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 2_003 }],
};

function answerOf(options: GeminiOptions): Vendor['answer'] {
  const wire = createGeminiWire(options);
  return (request) => {
    const script = wire.respond(request, say);
    return { script, ...(script.status === undefined && { billed: BILLED }) };
  };
}

/** What the model says. It depends on the request alone. */
function say(body: Json): GeminiAnswer {
  return { parts: partsFor(body), usage: USAGE };
}

function partsFor(body: Json): readonly Part[] {
  const config = body['generationConfig'] as Json;
  if (config['responseJsonSchema'] !== undefined) return [{ text: SCHEMA_ANSWER }];
  const { parts } = (body['contents'] as { parts: Part[] }[]).at(-1) ?? { parts: [] };
  const results = parts.map(({ functionResponse }) => functionResponse as Json | undefined).filter((one) => one);
  if (results.length > 0) {
    const texts = results.map((result) => (result?.['response'] as Json)['content']);
    return [{ text: `Results: ${texts.join(', ')}` }];
  }
  const images = parts.filter(({ inlineData }) => (inlineData as Json | undefined)?.['data'] === PIXEL);
  if (images.length > 0) return [{ text: `I see ${images.length} image` }];
  if (body['tools'] === undefined) return [{ text: 'Hello from ' }, { text: 'Gemini 🐟' }];
  return [
    { text: 'Let me look. ' },
    { functionCall: { name: 'weather', args: { city: 'Bern' } } },
    { functionCall: { name: 'weather', args: { city: 'Zürich' } } },
  ];
}
