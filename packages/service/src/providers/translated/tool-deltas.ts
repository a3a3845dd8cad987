import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { argumentsOf, unknownPart } from '#providers/translated/answer.ts';

type PartOf<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>;

/** The tool calls of one stream as deltas of the compatible format, each handed on as it comes. Undefined if there is nothing new to say. */
interface ToolDeltas {
  readonly begin: (part: PartOf<'tool-input-start'>) => JsonObject | undefined;
  readonly goOn: (part: PartOf<'tool-input-delta'>) => JsonObject | undefined;
  /** The end of a call, with all of its arguments. They are new only if no delta had any of them. */
  readonly end: (part: PartOf<'tool-call'>) => JsonObject | undefined;
  /** A tool was called, besides the one that stands for the JSON schema. */
  readonly hasCalls: () => boolean;
}

interface ToolCall {
  readonly index: number;
  hasArguments: boolean;
}

export function createToolDeltas({ toolCall }: Dialect, answerTool: string | undefined): ToolDeltas {
  const calls = new Map<string, ToolCall>();
  /** The ids of the calls of the tool that stands for the JSON schema. */
  const answers = new Set<string>();

  function begun(id: string, name: string, text: string, fields: JsonObject | undefined): JsonObject {
    const index = calls.size;
    calls.set(id, { index, hasArguments: text !== '' });
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: text }, ...fields }] };
  }

  return {
    begin: ({ id, toolName, providerMetadata, providerExecuted }) => {
      if (providerExecuted === true) throw unknownPart();
      if (toolName !== answerTool) {
        return begun(id, toolName, '', providerMetadata && toolCall?.fieldsOf(providerMetadata));
      }
      answers.add(id);
      return undefined;
    },
    goOn: ({ id, delta }) => {
      if (delta === '') return undefined;
      if (answers.has(id)) return { content: delta };
      const call = calls.get(id);
      if (call === undefined) throw unknownPart();
      call.hasArguments = true;
      return { tool_calls: [{ index: call.index, function: { arguments: delta } }] };
    },
    end: ({ toolCallId: id, toolName, input, providerExecuted, providerMetadata }) => {
      if (providerExecuted === true) throw unknownPart();
      if (answers.has(id)) return undefined;
      if (toolName === answerTool) {
        answers.add(id);
        return { content: input };
      }
      const fields = providerMetadata && toolCall?.fieldsOf(providerMetadata);
      const call = calls.get(id);
      if (call === undefined) return begun(id, toolName, argumentsOf(input), fields);
      if (call.hasArguments && fields === undefined) return undefined;
      const rest = call.hasArguments ? {} : { function: { arguments: argumentsOf(input) } };
      call.hasArguments = true;
      return { tool_calls: [{ index: call.index, ...rest, ...fields }] };
    },
    hasCalls: () => calls.size > 0,
  };
}
