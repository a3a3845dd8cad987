import type { LanguageModelV4StreamPart, SharedV4Warning } from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/json.ts';
import type { Chunk, FinishReason } from '#providers/completion.ts';
import { annotationOf, finishReasonOf, headOf } from '#providers/translated/answer.ts';
import type { Dialect } from '#providers/translated/dialect.ts';
import { vendorFailureOf } from '#providers/translated/failure.ts';
import { reasoningItem } from '#providers/translated/reasoning-details.ts';
import { unknownPart } from '#providers/translated/to-completion.ts';
import { usageReportFrom } from '#providers/translated/usage.ts';

type Part = LanguageModelV4StreamPart;
type PartOf<Type extends Part['type']> = Extract<Part, { type: Type }>;

/** Turns the parts of one stream into chunks. Each delta is handed on as it comes; nothing is collected. */
export interface ChunkMaker {
  /** Undefined if the part says nothing to the caller. Throws `UpstreamError` if it tells of a failure. */
  readonly take: (part: Part) => Chunk | undefined;
  /** The stream has said why it finished. */
  readonly isFinished: () => boolean;
}

interface ToolCall {
  readonly index: number;
  hasArguments: boolean;
}

export function createChunkMaker(
  dialect: Dialect,
  answerTool: string | undefined,
  onWarnings: (warnings: readonly SharedV4Warning[]) => void,
): ChunkMaker {
  let head: JsonObject = {};
  let hasRole = false;
  let isFinished = false;
  /** The places of the blocks of reasoning among all blocks. */
  const places = new Map<string, number>();
  let blocks = 0;
  const calls = new Map<string, ToolCall>();
  /** The ids of the calls of the tool that stands for the JSON schema. */
  const answers = new Set<string>();

  function chunk(delta: JsonObject, reason: FinishReason | null = null): Chunk {
    const said = hasRole ? delta : { role: 'assistant', ...delta };
    hasRole = true;
    return { choices: [{ index: 0, delta: said, finish_reason: reason }], usage: undefined, extra: head };
  }

  function ofReasoning(id: string, text: string, metadata: PartOf<'reasoning-delta'>['providerMetadata']) {
    const item = reasoningItem(dialect, places.get(id) ?? 0, text, metadata);
    if (item === undefined) return undefined;
    return chunk({ ...(text === '' ? {} : { reasoning_content: text }), reasoning_details: [item] });
  }

  function ofToolStart({ id, toolName: name, providerMetadata, providerExecuted }: PartOf<'tool-input-start'>) {
    if (providerExecuted === true) throw unknownPart();
    blocks += 1;
    if (name === answerTool) {
      answers.add(id);
      return undefined;
    }
    const call = { index: calls.size, hasArguments: false };
    calls.set(id, call);
    const fields = providerMetadata && dialect.toolCall?.fieldsOf(providerMetadata);
    const begun = { index: call.index, id, type: 'function', function: { name, arguments: '' }, ...fields };
    return chunk({ tool_calls: [begun] });
  }

  function ofToolDelta({ id, delta }: PartOf<'tool-input-delta'>) {
    if (delta === '') return undefined;
    if (answers.has(id)) return chunk({ content: delta });
    const call = calls.get(id);
    if (call === undefined) throw unknownPart();
    call.hasArguments = true;
    return chunk({ tool_calls: [{ index: call.index, function: { arguments: delta } }] });
  }

  /** The end of a call, with all of its arguments. They are new only if no delta had any of them. */
  function ofToolCall(part: PartOf<'tool-call'>) {
    const { toolCallId: id, toolName: name, input, providerExecuted, providerMetadata } = part;
    if (providerExecuted === true) throw unknownPart();
    if (answers.has(id)) return undefined;
    if (name === answerTool) {
      answers.add(id);
      return chunk({ content: input });
    }
    const call = calls.get(id);
    const fields = providerMetadata && dialect.toolCall?.fieldsOf(providerMetadata);
    if (call === undefined) {
      blocks += 1;
      const index = calls.size;
      calls.set(id, { index, hasArguments: true });
      return chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: input }, ...fields }] });
    }
    if (call.hasArguments && fields === undefined) return undefined;
    const rest = call.hasArguments ? {} : { function: { arguments: input } };
    call.hasArguments = true;
    return chunk({ tool_calls: [{ index: call.index, ...rest, ...fields }] });
  }

  function ofFinish({ finishReason, usage }: PartOf<'finish'>): Chunk {
    const reason = finishReasonOf(dialect, finishReason, answers.size > 0 && calls.size === 0);
    isFinished = true;
    return { ...chunk({}, reason), usage: usageReportFrom(dialect, usage) };
  }

  function take(part: Part): Chunk | undefined {
    switch (part.type) {
      case 'stream-start':
        onWarnings(part.warnings);
        return undefined;
      case 'response-metadata':
        head = headOf(part);
        return undefined;
      case 'text-start':
        blocks += 1;
        return undefined;
      case 'text-delta':
        return part.delta === '' ? undefined : chunk({ content: part.delta });
      case 'reasoning-start':
        places.set(part.id, blocks);
        blocks += 1;
        return ofReasoning(part.id, '', part.providerMetadata);
      case 'reasoning-delta':
        return ofReasoning(part.id, part.delta, part.providerMetadata);
      case 'reasoning-end':
        return ofReasoning(part.id, '', part.providerMetadata);
      case 'tool-input-start':
        return ofToolStart(part);
      case 'tool-input-delta':
        return ofToolDelta(part);
      case 'tool-call':
        return ofToolCall(part);
      case 'source': {
        const annotation = annotationOf(part);
        return annotation === undefined ? undefined : chunk({ annotations: [annotation] });
      }
      case 'finish':
        return ofFinish(part);
      case 'error':
        throw vendorFailureOf(dialect, part.error);
      case 'text-end':
      case 'tool-input-end':
      case 'raw':
        return undefined;
      default:
        throw unknownPart();
    }
  }

  return { take, isFinished: () => isFinished };
}
