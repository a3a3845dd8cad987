import type { UpstreamScript, UpstreamStep } from '../../../support/scripted-upstream.ts';
import { answerTo, event, failureAsked, type Fields, streamParts, wholeAnswer } from './chat-wire.ts';
import { startEntra } from './entra.ts';
import { inPieces, type Billed, CANARY, type Vendor, type VendorAnswer, type VendorRequest } from './vendor.ts';

/** OpenAI's format at Azure, as learn.microsoft.com documents it: by `/openai/v1` with a key, and by deployments with tokens. */

const DEPLOYMENT = 'our gpt/4.1';
const KEY = 'an-azure-resource-key';
const BILLED: Billed = { input: 109, cacheRead: 2_048, cacheWrite: 0, cacheWriteLong: 0, output: 59 };
const USAGE = {
  prompt_tokens: 2_157,
  completion_tokens: 59,
  total_tokens: 2_216,
  prompt_tokens_details: { cached_tokens: 2_048, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0 },
};
const SAFE = { hate: { filtered: false, severity: 'safe' } };

const FAILURES = [
  ['content_filter', 'upstream_rejected'],
  ['context_length_exceeded', 'context_length_exceeded'],
  ['DeploymentNotFound', 'upstream_unauthorized'],
  ['401', 'upstream_unauthorized'],
  ['429', 'throttled'],
  ['InternalServerError', 'upstream_outage'],
] as const;

const COMMON = {
  models: { plain: DEPLOYMENT },
  failures: FAILURES,
  lateFailures: [
    ['429', 'throttled'],
    ['cut', 'upstream_broken'],
  ],
  refused: [],
} as const;

export const azure: Vendor = {
  ...COMMON,
  kind: 'azure',
  providerAt: (origin) => ({ kind: 'azure', endpoint: `${origin}/`, apiKeyEnv: 'AZURE_TEST_API_KEY' }),
  environment: { AZURE_TEST_API_KEY: KEY },
  answer: (request) => {
    const isRight = request.headers['api-key'] === KEY && request.headers['authorization'] === undefined;
    if (!isRight) return { script: failed('401') };
    return request.path === '/openai/v1/chat/completions' ? answer(request) : { script: failed('DeploymentNotFound') };
  },
};

/** Tokens of Entra instead of a key. `write` keeps a file for the service and returns its path. */
export async function startAzureByToken(write: (name: string, text: string) => string) {
  const entra = await startEntra();
  const path = `/openai/deployments/${encodeURIComponent(DEPLOYMENT)}/chat/completions?api-version=2024-10-21`;
  const keysFor = (origins: readonly string[]): string =>
    write('keys.json', JSON.stringify({ azure: { entra: entra.definition, hosts: origins } }));
  const vendor: Vendor = {
    ...COMMON,
    kind: 'azure-by-token',
    providerAt: (origin) => {
      keysFor([origin]);
      return { kind: 'azure', endpoint: origin, deployments: true, apiKey: 'azure' };
    },
    environment: { ...entra.environment, PURSER_PROVIDER_KEYS: keysFor(['azure.test']) },
    answer: (request) => {
      const [, token = ''] = /^Bearer (.+)$/.exec(String(request.headers['authorization'])) ?? [];
      if (!entra.takesToken(token) || request.headers['api-key'] !== undefined) return { script: failed('401') };
      return request.path === path ? answer(request) : { script: failed('DeploymentNotFound') };
    },
  };
  return { vendor, ...entra };
}

function answer({ body }: VendorRequest): VendorAnswer {
  const fields = body as Fields;
  const asked = failureAsked(fields);
  if (asked !== undefined && !asked.isLate) return { script: failed(asked.word) };
  const said = answerTo(fields, 'GPT', ['call_bern', 'call_zurich']);
  const written = { model: 'gpt-4.1-2025-04-14', said, ofChoice: { content_filter_results: SAFE, logprobs: null } };
  const filters = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }] };
  if (fields['stream'] !== true) {
    const whole = { ...(JSON.parse(wholeAnswer({ ...written, usage: USAGE })) as Fields), ...filters };
    const headers = { 'content-type': 'application/json', 'apim-request-id': 'a', 'x-ms-region': 'Sweden Central' };
    return { script: { headers, body: JSON.stringify(whole) }, billed: BILLED };
  }
  const { chunk, delta, reason, texts, calls } = streamParts(written);
  const steps: UpstreamStep[] = [chunk([], filters), ...texts.map((one) => chunk([one]))];
  for (const [index, { id, city }] of calls.entries()) {
    const named = { index, id, type: 'function', function: { name: 'weather', arguments: '' } };
    steps.push(chunk([delta({ tool_calls: [named] })]));
    for (const text of inPieces(JSON.stringify({ city }))) {
      steps.push(chunk([delta({ tool_calls: [{ index, function: { arguments: text } }] })]));
    }
  }
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  if (asked?.word === 'cut') return { script: { headers, body: steps } };
  if (asked !== undefined) return { script: { headers, body: [...steps, event({ error: errorOf(asked.word) })] } };
  steps.push(chunk([delta({}, reason)]));
  const isCounted = (fields['stream_options'] as Fields | undefined)?.['include_usage'] === true;
  if (isCounted) steps.push(chunk([], { usage: USAGE }));
  return { script: { headers, body: [...steps, event('[DONE]')] }, billed: BILLED };
}

const STATUSES: Readonly<Record<string, number>> = {
  content_filter: 400,
  context_length_exceeded: 400,
  DeploymentNotFound: 404,
  401: 401,
  429: 429,
};

function errorOf(code: string): Fields {
  const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: SAFE };
  const filtered = { type: null, param: 'prompt', status: 400, innererror };
  return { code, message: CANARY, ...(code === 'content_filter' && filtered) };
}

function failed(code: string): UpstreamScript {
  const status = STATUSES[code] ?? 500;
  const headers = {
    'content-type': 'application/json',
    ...(status === 429 && { 'retry-after': '7', 'retry-after-ms': '6500' }),
  };
  return { status, headers, body: JSON.stringify({ error: errorOf(code) }) };
}
