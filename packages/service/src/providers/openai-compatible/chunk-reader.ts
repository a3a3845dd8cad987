import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { Chunk } from '#providers/completion.ts';
import { createChoiceShape } from '#providers/openai-compatible/answer-shape.ts';
import { checkChoices } from '#providers/openai-compatible/choices.ts';
import { errorOfFrame } from '#providers/openai-compatible/error.ts';
import { type TextTemplate, textTemplateOf } from '#providers/openai-compatible/text-template.ts';
import { usageReportOf } from '#providers/openai-compatible/usage.ts';
import { type StreamChunk, UpstreamError } from '#providers/provider.ts';
import { createEventReader } from '#providers/sse.ts';

const END_OF_STREAM = '[DONE]';
/** A provider whose chunks differ in more than their text is not asked for ever. */
const TEMPLATES_MAX = 8;

/** Reads the chunks of one stream out of its text. Throws `UpstreamError` where they are none. */
interface ChunkReader {
  readonly feed: (text: string) => void;
  /** The body has ended. */
  readonly end: () => void;
  /** The chunks that have come since it was last asked. */
  readonly take: () => readonly StreamChunk[];
  /** The provider has said that this was all; what comes behind that is nothing. */
  readonly isDone: () => boolean;
}

export function createChunkReader(): ChunkReader {
  let chunks: StreamChunk[] = [];
  let isDone = false;
  let template: TextTemplate | undefined;
  let templates = 0;
  let hasBegun = false;
  const shape = createChoiceShape();

  function chunkOf(event: unknown): Chunk {
    const { choices, usage, ...extra } = checked(event);
    return { choices: Array.isArray(choices) ? shape(choices) : [], usage: usageReportOf(usage), extra };
  }

  const events = createEventReader({
    onEvent: (data, raw) => {
      if (isDone) return;
      isDone = data === END_OF_STREAM;
      if (isDone) return;
      const event = parseJson(data);
      chunks.push(chunkOf(event));
      const isFirst = !hasBegun;
      hasBegun = true;
      // The first of a stream is like no other, as a rule: it names the role.
      if (isFirst || templates >= TEMPLATES_MAX || !isJsonObject(event)) return;
      const next = textTemplateOf({ event, data, raw, chunkOf });
      if (next === undefined) return;
      template = next;
      templates += 1;
    },
    skim: (text, at) => {
      const found = isDone ? undefined : template?.find(text, at);
      if (found === undefined) return at;
      chunks.push(found.chunks);
      return found.end;
    },
  });

  return {
    feed: events.feed,
    end: events.end,
    take: () => {
      const taken = chunks;
      chunks = [];
      return taken;
    },
    isDone: () => isDone,
  };
}

/** Throws the failure that an event is, if it is no chunk. */
function checked(event: unknown): JsonObject {
  if (!isJsonObject(event)) throw new UpstreamError('malformed', 'The provider sent a frame that is not JSON.');
  if (isJsonObject(event['error'])) throw errorOfFrame(event['error']);
  const choices = event['choices'] ?? undefined;
  // Providers send errors in other shapes too. Their text is not read, because it may hold anything (ER-03).
  const isChunk = Array.isArray(choices) || (choices === undefined && isJsonObject(event['usage']));
  const hasError = event['error'] !== undefined && event['error'] !== null;
  if (!isChunk || hasError) throw new UpstreamError('refused', 'The provider sent a frame that is no chunk.');
  if (choices !== undefined) checkChoices(choices);
  return event;
}
