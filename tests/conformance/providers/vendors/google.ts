import { createGeminiWire, type GeminiOptions } from '../gemini/answers.ts';
import { startTokenServer } from '../gemini/token-server.ts';
import {
  FAILURES,
  type GeminiAnswer,
  type GeminiFailure,
  type Json,
  type Part,
  type UsageMetadata,
} from '../gemini/wire.ts';
import {
  askedReason,
  type Billed,
  CANARY,
  PIXEL,
  REFUSED_BY_ALL,
  SCHEMA_ANSWER,
  type Vendor,
  WEATHER,
} from './vendor.ts';

/** Gemini's format, as ai.google.dev documents it: at the Gemini API, and on Vertex by tokens of a service account. */

const KEY = 'gemini-test-key';
const GIF = { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlh' } };

/** The parameters that are refused on both, at the Gemini API and on Vertex. */
const REFUSED: Vendor['refused'] = [
  ...REFUSED_BY_ALL,
  [{ verbosity: 'low' }, 'verbosity'],
  [{ parallel_tool_calls: false, tools: [WEATHER] }, 'parallel_tool_calls'],
  [{ seed: 2 ** 31 }, 'seed'],
  [{ reasoning_effort: 'none' }, 'reasoning_effort'],
  [{ reasoning_effort: 'max' }, 'reasoning_effort'],
  [{ tools: [{ type: 'function', function: { name: '2fa' } }] }, 'tools[0].function.name'],
  [{ messages: [{ role: 'user', content: [GIF] }] }, 'messages[0].content[0].image_url.url'],
  [
    { messages: [{ role: 'user', content: 'Hello', cache_control: { type: 'ephemeral' } }] },
    'messages[0].cache_control',
  ],
];

export const google: Vendor = {
  kind: 'google',
  providerAt: (origin) => ({ kind: 'google', baseUrl: `${origin}/v1beta`, apiKeyEnv: 'GEMINI_TEST_API_KEY' }),
  environment: { GEMINI_TEST_API_KEY: KEY },
  models: { plain: 'gemini-3.5-flash', old: 'gemini-2.5-flash', pro: 'gemini-2.5-pro' },
  failures: [
    ['exhausted', 'throttled'],
    ['notReadable', 'upstream_rejected'],
    ['contextOverflow', 'context_length_exceeded'],
    ['keyInvalid', 'upstream_unauthorized'],
    ['noPermission', 'upstream_unauthorized'],
    ['notFound', 'upstream_unauthorized'],
    ['notServedHere', 'upstream_unauthorized'],
    ['overloaded', 'upstream_outage'],
    ['internal', 'upstream_outage'],
  ],
  lateFailures: [
    ['exhausted', 'throttled'],
    ['overloaded', 'upstream_outage'],
    ['cut', 'upstream_broken'],
  ],
  refused: [
    ...REFUSED,
    [{ model: 'google.old', presence_penalty: 1 }, 'presence_penalty'],
    [{ model: 'google.old', frequency_penalty: 1 }, 'frequency_penalty'],
    [{ model: 'google.pro', reasoning_effort: 'none' }, 'reasoning_effort'],
  ],
  hasWholeArguments: true,
  answer: answerOf({ apiKey: KEY }),
};

/** Starts the server. `write` puts a text into a file and returns its path. */
export async function startVertex(write: (name: string, text: string) => string) {
  const { serviceAccount, takesToken, close } = await startTokenServer();
  const credentialsFile = write('vertex.json', JSON.stringify(serviceAccount));
  const place = { project: 'shop-1', location: 'europe-west4' };
  const vendor: Vendor = {
    ...google,
    kind: 'vertex',
    providerAt: (origin) => ({ kind: 'vertex', ...place, endpoint: origin, credentialsFile }),
    environment: {},
    refused: REFUSED,
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
    const isWhole = script.status === undefined && failureAsked(request.body as Json) === undefined;
    return { script, ...(isWhole && { billed: BILLED }) };
  };
}

/** What the model says. It depends on the request alone. */
function say(body: Json): GeminiAnswer | GeminiFailure {
  const asked = failureAsked(body);
  if (asked === undefined) {
    return { parts: partsFor(body), usage: USAGE, finishReason: askedReason(promptOf(body), 'STOP') };
  }
  const { word, isLate } = asked;
  const failure = Object.entries(FAILURES).find(([name]) => name === word)?.[1];
  const { message } = FAILURES.contextOverflow;
  const error = failure && { ...failure, message: word === 'contextOverflow' ? message : CANARY };
  if (!isLate) return { error: error ?? FAILURES.internal };
  return { parts: [{ text: 'Hello from Gemini' }], usage: USAGE, breakBy: error ?? 'end' };
}

/** The failure that the prompt asks for by `fail` and its name. */
function failureAsked(body: Json): { readonly word: string; readonly isLate: boolean } | undefined {
  const [, word, late] = /^fail (\w+)( late)?$/.exec(promptOf(body)) ?? [];
  return word === undefined ? undefined : { word, isLate: late !== undefined };
}

function promptOf(body: Json): string {
  const { parts } = (body['contents'] as { parts: Part[] }[]).at(-1) ?? { parts: [] };
  const text = parts[0]?.['text'];
  return typeof text === 'string' ? text : '';
}

function partsFor(body: Json): readonly Part[] {
  const config = body['generationConfig'] as Json;
  if (config['responseJsonSchema'] !== undefined) return [{ text: SCHEMA_ANSWER }];
  const { parts } = (body['contents'] as { parts: Part[] }[]).at(-1) ?? { parts: [] };
  const results = parts.flatMap(({ functionResponse }) => (functionResponse ?? []) as { response: Json });
  if (results.length > 0)
    return [{ text: `Results: ${results.map(({ response }) => response['content']).join(', ')}` }];
  const images = parts.filter(({ inlineData }) => (inlineData as Json | undefined)?.['data'] === PIXEL);
  if (images.length > 0) return [{ text: `I see ${images.length} image` }];
  if (body['tools'] === undefined) return [{ text: 'Hello from ' }, { text: 'Gemini 🐟' }];
  return [
    { text: 'Let me look. ' },
    { functionCall: { name: 'weather', args: { city: 'Bern' } } },
    { functionCall: { name: 'weather', args: { city: 'Zürich' } } },
  ];
}
