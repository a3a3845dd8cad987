import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata, SharedV4Warning } from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk, ChunkChoice } from '#providers/port/completion.ts';
import {
  annotationOf,
  finishReasonOf,
  headOf,
  imageOf,
  stopSequenceOf,
  unknownPart,
} from '#providers/translated/answer.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { vendorFailureOf } from '#providers/dialect/failure.ts';
import { reasoningItem } from '#providers/translated/reasoning-details.ts';
import { createToolDeltas } from '#providers/translated/tool-deltas.ts';
import { usageReportFrom } from '#providers/dialect/usage.ts';

/** Turns the parts of one stream into chunks. Each delta is handed on as it comes; nothing is collected. */
export interface ChunkMaker {
  /** Returns undefined if the part says nothing to the caller. Throws `UpstreamError` if it tells of a failure. */
  readonly take: (part: LanguageModelV4StreamPart) => Chunk | undefined;
  /** The stream has said why it finished. */
  readonly isFinished: () => boolean;
}

export function createChunkMaker(
  dialect: Dialect,
  answerTool: string | undefined,
  onWarnings: (warnings: readonly SharedV4Warning[]) => void,
): ChunkMaker {
  const tools = createToolDeltas(dialect, answerTool);
  const reasoning = createReasoningDeltas(dialect);
  let head: JsonObject = {};
  let hasRole = false;
  let isFinished = false;

  function chunk(delta: JsonObject | undefined, end: End = OPEN): Chunk | undefined {
    if (delta === undefined) return undefined;
    const said = hasRole ? delta : { role: 'assistant', ...delta };
    hasRole = true;
    return { choices: [{ index: 0, delta: said, ...end }], usage: undefined, extra: head };
  }

  function take(part: LanguageModelV4StreamPart): Chunk | undefined {
    switch (part.type) {
      case 'stream-start':
        onWarnings(part.warnings);
        return undefined;
      case 'response-metadata':
        head = headOf(part);
        return undefined;
      case 'text-start':
        reasoning.pass();
        return undefined;
      case 'text-delta':
        return part.delta === '' ? undefined : chunk({ content: part.delta });
      case 'reasoning-start':
        return chunk(reasoning.begin(part.id, part.providerMetadata));
      case 'reasoning-delta':
        return chunk(reasoning.goOn(part.id, part.delta, part.providerMetadata));
      case 'reasoning-end':
        return chunk(reasoning.goOn(part.id, '', part.providerMetadata));
      case 'tool-input-start':
        reasoning.pass();
        return chunk(tools.begin(part));
      case 'tool-input-delta':
        return chunk(tools.goOn(part));
      case 'tool-call':
        return chunk(tools.end(part));
      case 'source':
        return chunk(annotationsOf(annotationOf(part)));
      case 'file':
        return chunk(reasoning.passBy({ images: [imageOf(part)] }));
      case 'finish': {
        const ended = chunk({}, endOf(dialect, part, tools.hasCalls()));
        isFinished = true;
        return ended && { ...ended, usage: usageReportFrom(dialect, part.usage) };
      }
      case 'error':
        throw vendorFailureOf(dialect, part.error);
      case 'text-end':
      case 'tool-input-end':
      case 'raw':
      case 'custom':
      // What a library says of the stream itself, and the sketch of a thought, are no part of the answer.
      case 'reasoning-file':
        return undefined;
      case 'tool-approval-request':
      case 'tool-result':
        throw unknownPart();
    }
  }

  return { take, isFinished: () => isFinished };
}

type End = Pick<ChunkChoice, 'finish_reason'>;
const OPEN: End = { finish_reason: null };

function endOf(dialect: Dialect, { finishReason, providerMetadata }: FinishPart, hasCalls: boolean): End {
  return { finish_reason: finishReasonOf(dialect, finishReason, hasCalls), ...stopSequenceOf(providerMetadata) };
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

function annotationsOf(annotation: JsonObject | undefined): JsonObject | undefined {
  return annotation && { annotations: [annotation] };
}

/** The reasoning of one stream, with the place of each block among all blocks of the answer. */
function createReasoningDeltas(dialect: Dialect) {
  const places = new Map<string, number>();
  let blocks = 0;

  function goOn(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
    const item = reasoningItem(dialect, places.get(id) ?? 0, text, metadata);
    return item && { ...(text === '' ? {} : { reasoning_content: text }), reasoning_details: [item] };
  }

  return {
    /** A block of another sort begins. */
    pass: (): void => {
      blocks += 1;
    },
    passBy: (delta: JsonObject): JsonObject => {
      blocks += 1;
      return delta;
    },
    begin: (id: string, metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined => {
      places.set(id, blocks);
      blocks += 1;
      return goOn(id, '', metadata);
    },
    goOn,
  };
}
