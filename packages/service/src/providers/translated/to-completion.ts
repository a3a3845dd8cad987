import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import {
  annotationOf,
  argumentsOf,
  finishReasonOf,
  headOf,
  imageOf,
  stopSequenceOf,
  unknownPart,
} from '#providers/translated/answer.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { reasoningItem } from '#providers/translated/reasoning-details.ts';
import { usageReportFrom } from '#providers/dialect/usage.ts';

interface Said {
  content: string;
  reasoning: string;
  readonly details: JsonObject[];
  readonly calls: JsonObject[];
  readonly annotations: JsonObject[];
  readonly images: JsonObject[];
}

/** A whole V4 result in the compatible format. Throws `UpstreamError` if it tells of a failure. */
export function toCompletion(
  dialect: Dialect,
  result: LanguageModelV4GenerateResult,
  answerTool: string | undefined,
): Completion {
  const said = saidIn(dialect, result, answerTool);
  const { content, reasoning, details, calls, annotations, images } = said;
  const reason = finishReasonOf(dialect, result.finishReason, calls.length > 0);
  const message = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
  };
  return {
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason, ...stopSequenceOf(result.providerMetadata) }],
    usage: usageReportFrom(dialect, result.usage),
    extra: headOf(result.response ?? {}),
  };
}

function saidIn(dialect: Dialect, { content }: LanguageModelV4GenerateResult, answerTool: string | undefined): Said {
  const said: Said = { content: '', reasoning: '', details: [], calls: [], annotations: [], images: [] };
  for (const [index, part] of content.entries()) {
    switch (part.type) {
      case 'text':
        said.content += part.text;
        break;
      case 'reasoning': {
        said.reasoning += part.text;
        const item = reasoningItem(dialect, index, part.text, part.providerMetadata);
        if (item !== undefined) said.details.push(item);
        break;
      }
      case 'tool-call': {
        if (part.toolName === answerTool) {
          said.content += part.input;
          break;
        }
        const { toolCallId: id, toolName: name, input, providerMetadata } = part;
        const fields = providerMetadata && dialect.toolCall?.fieldsOf(providerMetadata);
        said.calls.push({ id, type: 'function', function: { name, arguments: argumentsOf(input) }, ...fields });
        break;
      }
      case 'source': {
        const annotation = annotationOf(part);
        if (annotation !== undefined) said.annotations.push(annotation);
        break;
      }
      case 'file':
        said.images.push(imageOf(part));
        break;
      case 'reasoning-file':
        break; // A sketch of a thought is no part of the answer.
      case 'custom':
      case 'tool-approval-request':
      case 'tool-result':
        throw unknownPart();
    }
  }
  return said;
}
