import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { errorOfResponse } from '#providers/errors/errors.ts';
import type { Address } from '#providers/openai-compatible/json-provider.ts';
import { createKeyedEndpoints } from '#providers/openai-compatible/json-provider.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';
import { upstreamFailureOf } from '#providers/errors/request-failure.ts';

/** What the vendor takes to count a prompt. It refuses a request with anything else. */
const COUNTED = [
  'cache_control',
  'context_management',
  'messages',
  'output_config',
  'output_format',
  'system',
  'thinking',
  'tool_choice',
  'tools',
];
const UNAUTHORIZED = 401;
const ANSWER_BYTES_MAX = 65_536;

/** How a count is asked for, and where the answer has it. */
interface CountWords {
  readonly bodyOf: (call: ProviderCall) => string;
  readonly member: string;
  readonly errorOf?: typeof errorOfResponse;
}

/** Asks a vendor how many tokens a prompt has. */
export function createCount(
  { headers, ...address }: Address,
  { bodyOf, member, errorOf = errorOfResponse }: CountWords,
): NonNullable<Provider['countPrompt']> {
  const json = { ...headers, 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'purser/1' };
  const endpoints = createKeyedEndpoints({ ...address, headers: { ...json, 'accept-encoding': 'identity' } });
  return async (call) => {
    const body = bodyOf(call);
    try {
      const { postBuffered } = await endpoints.endpointOf(call.providerModel);
      const limits = { timeoutMs: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX, headers: call.headers };
      const { status, text, error, large } = await postBuffered(body, limits);
      large?.leave();
      if (status === UNAUTHORIZED) endpoints.refused();
      if (text === undefined) throw errorOf(status, error, call.request);
      return countIn(parseJson(text), member);
    } catch (fault) {
      throw upstreamFailureOf(fault);
    }
  };
}

/** The body for a server of Messages. */
export function countBodyOf({ native, providerModel }: ProviderCall, version: string | undefined): string {
  const asked = parseJson(native?.text ?? '{}') as JsonObject;
  const counted = COUNTED.filter((name) => asked[name] !== undefined).map((name) => [name, asked[name]] as const);
  return JSON.stringify({ anthropic_version: version, model: providerModel, ...Object.fromEntries(counted) });
}

function countIn(answer: unknown, member: string): number | undefined {
  const count = isJsonObject(answer) ? answer[member] : undefined;
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : undefined;
}
