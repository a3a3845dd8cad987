import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { OUTPUT_COUNTS, UNTOLD } from '#providers/dialect/usage.ts';

type Part = LanguageModelV4StreamPart;

const SAYING: ReadonlySet<Part['type']> = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta', 'tool-call']);

/**
 * The library's model, whose streams report the largest of each count: the library takes the last report alone. Behind a
 * reason to finish and its usage, nothing fails a stream (CC-11).
 */
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
      return { ...result, stream: fittedStream(result.stream) };
    },
  };
}

/** Nothing is read before it is wanted (back-pressure). */
function fittedStream(stream: ReadableStream<Part>): ReadableStream<Part> {
  const reader = stream.getReader();
  const fit = createFit();
  return new ReadableStream<Part>(
    {
      pull: async (controller) => {
        for (;;) {
          const read = await reader
            .read()
            .catch((fault: unknown) => ({ done: true as const, value: undefined, fault }));
          const lost = 'fault' in read ? fit.end() : undefined;
          if (lost !== undefined) controller.enqueue(lost);
          else if ('fault' in read) return controller.error(read.fault);
          if (read.done) return controller.close();
          const part = fit.take(read.value);
          if (part !== undefined) return controller.enqueue(part);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** What the parts of one stream become. */
function createFit() {
  let usage: JsonObject | undefined;
  let reason: string | undefined;
  /** Something was said after the newest report, which tells nothing of it. */
  let hasMore = false;
  /** The library could not read the last event, which held nothing but a report or the reason. */
  let isOdd = false;

  function follow(event: unknown): void {
    const told = fieldIn(event, 'metadata', 'usage');
    const word = fieldIn(event, 'messageStop', 'stopReason');
    isOdd = isJsonObject(told) || typeof word === 'string';
    if (typeof word === 'string') reason = word;
    if (!isJsonObject(told)) return;
    usage = usage === undefined ? told : largest(usage, told);
    hasMore = false;
  }

  /** The last part. Undefined as long as anything is missing. */
  function end(): Part | undefined {
    if (reason === undefined || usage === undefined) return undefined;
    return { type: 'finish', finishReason: { unified: 'other', raw: reason }, usage: unified(usage, hasMore) };
  }

  return {
    end,
    take: (part: Part): Part | undefined => {
      if (part.type === 'raw') {
        follow(part.rawValue);
        return undefined;
      }
      hasMore ||= SAYING.has(part.type);
      if (part.type === 'error') return isOdd || end() !== undefined ? undefined : part;
      if (part.type !== 'finish') return part;
      const ended = part.finishReason.unified === 'error' ? end() : undefined;
      return ended ?? { ...part, usage: usage === undefined ? part.usage : unified(usage, hasMore) };
    },
  };
}

function fieldIn(event: unknown, type: string, name: string): unknown {
  const fields = isJsonObject(event) ? event[type] : undefined;
  return isJsonObject(fields) ? fields[name] : undefined;
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
