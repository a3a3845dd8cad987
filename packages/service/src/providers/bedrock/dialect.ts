import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { budgetOf, claudeOf } from '#providers/models/claude.ts';
import { failureKindOf, nameOfError } from '#providers/bedrock/failures.ts';
import { isNovaReasoning, schemaWayOf } from '#providers/models/bedrock.ts';
import { type BedrockPlace, createOpenBedrock, type OpenBedrock } from '#providers/bedrock/open.ts';
import { withLargestUsage } from '#providers/bedrock/usage.ts';
import type { ProviderCall } from '#providers/port/provider.ts';
import type { CallSettings, Dialect, SealFields } from '#providers/dialect/dialect.ts';
import { samplingOf, schemaOf, stopOf } from '#providers/dialect/settings.ts';
import { unifiedCounts } from '#providers/dialect/usage.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

/** Makes the dialect of Bedrock's Converse format, by `@ai-sdk/amazon-bedrock`. Without a key, requests are signed. */
export function bedrockDialect(
  place: BedrockPlace,
  http: Pick<VendorHttp, 'requestCredentials'>,
  open: OpenBedrock = createOpenBedrock(place, http),
): Dialect {
  return {
    kind: 'bedrock',
    framing: 'frames',
    modelOf: async ({ providerModel, fetch, key }) => withLargestUsage((await open({ fetch, key }))(providerModel)),
    settingsOf,
    limitInBody: ({ inferenceConfig: config }) => (isJsonObject(config) ? config['maxTokens'] : undefined),
    cacheOptions: ({ ttl }) => ({
      amazonBedrock: { cachePoint: { type: 'default', ...(typeof ttl === 'string' ? { ttl } : {}) } },
    }),
    reasoning: {
      // The seals of Claude are the same wherever it runs.
      format: 'anthropic-claude-v1',
      fieldsOf: ({ amazonBedrock }) => sealOf(amazonBedrock),
      optionsOf: ({ signature, data }) => ({
        amazonBedrock: data === undefined ? { signature: signature ?? '' } : { redactedContent: data },
      }),
    },
    countsOf: (usage) => {
      const counts = unifiedCounts(usage);
      const long = longCacheWrite(usage.raw);
      return long === 0 ? counts : { ...counts, ...splitCacheWrite(counts.cacheWrite, long) };
    },
    finishReasonOf: (raw) => (raw.startsWith('malformed_') ? undefined : 'stop'),
    failureKindOf,
    codeOf: (_body, headers) => nameOfError(headers['x-amzn-errortype']),
  };
}

function sealOf(metadata: SharedV4ProviderMetadata[string] | undefined): SealFields | undefined {
  const { signature, redactedData, redactedContent } = metadata ?? {};
  const data = redactedContent ?? redactedData;
  if (typeof data === 'string' && data !== '') return { data };
  return typeof signature === 'string' && signature !== '' ? { signature } : undefined;
}

/** What was written to the cache for an hour: V4 has one count for all. */
function longCacheWrite(raw: unknown): number {
  const details = isJsonObject(raw) ? raw['cacheDetails'] : undefined;
  if (!Array.isArray(details)) return 0;
  const long = details.filter((detail): detail is JsonObject => isJsonObject(detail) && detail['ttl'] === '1h');
  return long.reduce((sum, { inputTokens }) => sum + (typeof inputTokens === 'number' ? inputTokens : 0), 0);
}

function splitCacheWrite(all: number | undefined, long: number) {
  return { cacheWrite: Math.max(0, (all ?? long) - long), cacheWriteLong: long };
}

const ANSWER_TOOL = 'answer';

function settingsOf(call: ProviderCall): CallSettings {
  const { request, providerModel, outputTokens } = call;
  const { options, budgetTokens } = thinkingOf(call);
  const schema = schemaOf(request);
  const isField = schema !== undefined && schemaWayOf(providerModel) === 'field';
  const isSerial = request['parallel_tool_calls'] === false;
  return {
    ...samplingOf(request, { isAlone: claudeOf(providerModel) !== undefined }),
    ...stopOf(request),
    ...(isField ? { responseFormat: { type: 'json', schema } } : {}),
    ...(schema === undefined || isField ? {} : answerToolOf(schema)),
    // The library adds the budget to the limit; the hold pays for both together.
    maxOutputTokens: outputTokens - budgetTokens,
    providerOptions: {
      amazonBedrock: {
        ...(options as SharedV4ProviderMetadata[string]),
        ...(isField ? { structuredOutputMode: 'outputFormat' } : {}),
      },
      ...(isSerial ? { anthropic: { disableParallelToolUse: true } } : {}),
    },
  };
}

/** A tool that the model must call. Our own and not the library's: that one collects a stream's JSON to its end. */
function answerToolOf(schema: JsonObject): CallSettings {
  const description = 'Give the answer as a JSON object.';
  return {
    tools: [{ type: 'function', name: ANSWER_TOOL, description, inputSchema: schema }],
    toolChoice: { type: 'tool', toolName: ANSWER_TOOL },
    answerTool: ANSWER_TOOL,
  };
}

interface Thinking {
  readonly options: JsonObject;
  readonly budgetTokens: number;
}

const NO_THINKING: Thinking = { options: {}, budgetTokens: 0 };

/** What `reasoning_effort` asks for, in the words of the model. */
function thinkingOf({ request, providerModel, outputTokens }: ProviderCall): Thinking {
  const effort = request['reasoning_effort'];
  if (typeof effort !== 'string') return NO_THINKING;
  const claude = claudeOf(providerModel);
  if (claude === undefined) {
    if (effort === 'none') return NO_THINKING;
    const type = isNovaReasoning(providerModel) ? { type: 'enabled' } : {};
    return { options: { reasoningConfig: { ...type, maxReasoningEffort: effort } }, budgetTokens: 0 };
  }
  // Said to the model itself: the library would send nothing, and some models think unless they are told not to.
  if (effort === 'none') {
    return { options: { additionalModelRequestFields: { thinking: { type: 'disabled' } } }, budgetTokens: 0 };
  }
  if (claude.thinking === 'effort') {
    const maxReasoningEffort = effort === 'minimal' ? 'low' : effort;
    return {
      options: { reasoningConfig: { type: 'adaptive', maxReasoningEffort, display: 'summarized' } },
      budgetTokens: 0,
    };
  }
  const budgetTokens = budgetOf(effort, outputTokens);
  return budgetTokens === undefined
    ? NO_THINKING
    : { options: { reasoningConfig: { type: 'enabled', budgetTokens } }, budgetTokens };
}
