import { createAnthropic } from '@ai-sdk/anthropic';
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { budgetOf, claudeOf } from '#providers/models/claude.ts';
import { createClaudeFit } from '#providers/anthropic/fit.ts';
import { countsOf, isUnbilled } from '#providers/anthropic/usage.ts';
import type { ProviderCall, UpstreamErrorKind } from '#providers/port/provider.ts';
import type { CallSettings, Dialect, SealFields, VendorFailure, VendorKey } from '#providers/dialect/dialect.ts';
import { fitFetch } from '#providers/dialect/fit-answer.ts';
import { samplingOf, schemaOf, stopOf } from '#providers/dialect/settings.ts';

interface AnthropicOptions {
  /** The base URL up to and including the version, as in `https://api.anthropic.com/v1`. */
  readonly baseUrl: string;
}

/** The key for a server of one's own that asks for none. */
const NO_KEY: VendorKey = { text: 'none', isToken: false };

/** Makes the dialect of Anthropic's Messages format, by `@ai-sdk/anthropic`. */
export function anthropicDialect({ baseUrl }: AnthropicOptions): Dialect {
  return {
    kind: 'anthropic',
    framing: 'events',
    // Address and key are always given: what is left out, the library takes from the environment (MO-11).
    modelOf: ({ providerModel, fetch, key = NO_KEY }) => {
      const authentication = key.isToken ? { authToken: key.text } : { apiKey: key.text };
      const settings = { baseURL: baseUrl.replace(/\/+$/, ''), ...authentication };
      return createAnthropic({ ...settings, fetch: fitFetch(fetch, createClaudeFit) })(providerModel);
    },
    settingsOf,
    limitInBody: ({ max_tokens: limit }) => limit,
    cacheOptions: (mark) => ({ anthropic: { cacheControl: mark as SharedV4ProviderMetadata[string] } }),
    reasoning: {
      format: 'anthropic-claude-v1',
      fieldsOf: ({ anthropic }) => sealOf(anthropic),
      optionsOf: ({ signature, data }) => ({
        anthropic: data === undefined ? { signature: signature ?? '' } : { redactedData: data },
      }),
    },
    countsOf,
    isUnbilled: ({ raw }) => isUnbilled(raw),
    // A word that is new to the library means at least that the answer has ended.
    finishReasonOf: () => 'stop',
    failureKindOf,
    codeOf: (body) => {
      const error = isJsonObject(body) ? body['error'] : undefined;
      const type = isJsonObject(error) ? error['type'] : undefined;
      return typeof type === 'string' ? type : undefined;
    },
  };
}

/** The seal of a block of thinking, or the block itself if Anthropic shows none of it. */
function sealOf(metadata: SharedV4ProviderMetadata[string] | undefined): SealFields | undefined {
  const { signature, redactedData } = metadata ?? {};
  if (typeof redactedData === 'string') return { data: redactedData };
  return typeof signature === 'string' && signature !== '' ? { signature } : undefined;
}

const KINDS: Readonly<Record<string, UpstreamErrorKind>> = {
  rate_limit_error: 'throttled',
  overloaded_error: 'throttled',
  authentication_error: 'unauthorized',
  permission_error: 'unauthorized',
  billing_error: 'unauthorized',
  request_too_large: 'too-long',
  not_found_error: 'rejected',
  timeout_error: 'timeout',
  api_error: 'outage',
};

/** Matches a prompt that is too long, because Anthropic has no code for one, and none for an account without money. */
const TOO_LONG = /^prompt is too long|exceed context limit|exceeds? the (maximum )?context/i;
const NO_MONEY = /credit balance is too low/i;

function failureKindOf({ code, text }: VendorFailure): UpstreamErrorKind | undefined {
  if (code === 'invalid_request_error') {
    if (TOO_LONG.test(text)) return 'too-long';
    return NO_MONEY.test(text) ? 'unauthorized' : 'rejected';
  }
  return code === undefined ? undefined : KINDS[code];
}

function settingsOf(call: ProviderCall): CallSettings {
  const { request, providerModel, outputTokens } = call;
  const claude = claudeOf(providerModel);
  const thinking = thinkingOf(call);
  const schema = schemaOf(request);
  const user = request['safety_identifier'];
  const anthropic: Record<string, unknown> = {
    ...thinking.options,
    ...(request['parallel_tool_calls'] === false ? { disableParallelToolUse: true } : {}),
    ...(typeof user === 'string' ? { metadata: { userId: user } } : {}),
    ...(schema === undefined ? {} : { structuredOutputMode: 'outputFormat' }),
  };
  return {
    ...samplingOf(request, { isAlone: claude !== undefined }),
    ...stopOf(request),
    ...(schema === undefined ? {} : { responseFormat: { type: 'json', schema } }),
    // The library adds the budget to the limit; the hold pays for both together.
    maxOutputTokens: outputTokens - thinking.budgetTokens,
    providerOptions: { anthropic: anthropic as SharedV4ProviderMetadata[string] },
  };
}

interface Thinking {
  readonly options: JsonObject;
  readonly budgetTokens: number;
}

/** What `reasoning_effort` asks for, in the words of the model. */
function thinkingOf({ request, providerModel, outputTokens }: ProviderCall): Thinking {
  const effort = request['reasoning_effort'];
  const claude = claudeOf(providerModel);
  if (typeof effort !== 'string' || claude === undefined) return { options: {}, budgetTokens: 0 };
  if (effort === 'none') return { options: { thinking: { type: 'disabled' } }, budgetTokens: 0 };
  if (claude.thinking === 'effort') {
    const asked = effort === 'minimal' ? 'low' : effort;
    return { options: { thinking: { type: 'adaptive', display: 'summarized' }, effort: asked }, budgetTokens: 0 };
  }
  const budgetTokens = budgetOf(effort, outputTokens) ?? 0;
  return { options: budgetTokens === 0 ? {} : { thinking: { type: 'enabled', budgetTokens } }, budgetTokens };
}
