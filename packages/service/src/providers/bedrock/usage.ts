import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { OUTPUT_COUNTS, UNTOLD } from '#providers/translated/usage.ts';

type Part = LanguageModelV4StreamPart;

const SAYING: ReadonlySet<Part['type']> = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta', 'tool-call']);

/** The library's model, whose streams report the largest of each count. The library takes the last report, whatever came before it. */
export function withLargestUsage(model: LanguageModelV4): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      // Only the raw events have every report.
      const result = await model.doStream({ ...options, includeRawChunks: true });
      return { ...result, stream: result.stream.pipeThrough(usageStream()) };
    },
  };
}

function usageStream(): TransformStream<Part, Part> {
  let usage: JsonObject | undefined;
  /** Something was said after the newest report, which tells nothing of it. */
  let hasMore = false;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'raw') {
        const told = usageIn(part.rawValue);
        if (told === undefined) return;
        usage = usage === undefined ? told : largest(usage, told);
        hasMore = false;
        return;
      }
      hasMore ||= SAYING.has(part.type);
      const isTold = part.type === 'finish' && usage !== undefined;
      controller.enqueue(isTold ? { ...part, usage: unified(usage ?? {}, hasMore) } : part);
    },
  });
}

function usageIn(event: unknown): JsonObject | undefined {
  const metadata = isJsonObject(event) ? event['metadata'] : undefined;
  const usage = isJsonObject(metadata) ? metadata['usage'] : undefined;
  return isJsonObject(usage) ? usage : undefined;
}

function largest(earlier: JsonObject, later: JsonObject): JsonObject {
  const usage: Record<string, unknown> = { ...earlier, ...later };
  for (const [name, count] of Object.entries(earlier)) {
    if (typeof count === 'number') usage[name] = Math.max(count, countIn(later, name));
    else if (usage[name] === null) usage[name] = count;
  }
  return usage;
}

function unified(usage: JsonObject, hasMore: boolean): LanguageModelV4Usage {
  const [noCache, cacheRead, cacheWrite] = [
    countIn(usage, 'inputTokens'),
    countIn(usage, 'cacheReadInputTokens'),
    countIn(usage, 'cacheWriteInputTokens'),
  ];
  const output = countIn(usage, 'outputTokens');
  return {
    inputTokens: { total: noCache + cacheRead + cacheWrite, noCache, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: undefined },
    raw: (hasMore ? { ...usage, [UNTOLD]: OUTPUT_COUNTS } : usage) as NonNullable<LanguageModelV4Usage['raw']>,
  };
}

function countIn(usage: JsonObject, name: string): number {
  const count = usage[name];
  return typeof count === 'number' ? count : 0;
}
