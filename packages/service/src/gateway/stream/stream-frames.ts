import { fillSlots, slotsOf, type TemplateSlots } from '@purser/text-runs/template-slots.ts';
import type { ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import { createChunkHead } from '#gateway/answer/answer.ts';
import { dataFrame } from '#gateway/answer/frames.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Chunk, ChunkChoice } from '#providers/completion.ts';
import { visibleChoices } from '#providers/visible-fields.ts';

/** Writes the chunks of one stream for its caller, under the resolved model identifier (CC-04). */
interface StreamFrames {
  /** The frame of a chunk, from its choices and its other members. */
  readonly write: (beside: JsonObject, choices: readonly ChunkChoice[]) => string;
  /** The frames of a text run, in one string; undefined if the places of its texts in a frame are not certain. */
  readonly writeRun: (run: TextRun<Chunk>) => string | undefined;
  /** The members of a chunk beside its choices. */
  readonly besideOf: (chunk: Chunk) => JsonObject;
}

interface RunFrame {
  readonly pattern: ChunkPattern<Chunk>;
  readonly slots: TemplateSlots | undefined;
}

/** Placeholders for texts, unlikely in any chunk. In ASCII, because V8 writes other strings at two bytes a character. */
const MARKS = ['~~{text}~~', '~~{padding}~~'];

export function createStreamFrames(call: ChatCall): StreamFrames {
  const headed = createChunkHead(call.callId);
  const nullUsage = call.wantsUsage ? { usage: null } : {};
  /** The frame of the newest pattern. A stream goes from one pattern to the next and rarely back. */
  let frame: RunFrame | undefined;

  function write(beside: JsonObject, choices: readonly ChunkChoice[]): string {
    return dataFrame({ ...beside, choices: visibleChoices(choices), model: call.model.id, ...nullUsage });
  }

  function frameOf(pattern: ChunkPattern<Chunk>): RunFrame {
    const marks = MARKS.slice(0, pattern.textCount);
    const { choices, extra } = pattern.withTexts(marks);
    return { pattern, slots: slotsOf(write(headed(extra), choices), marks) };
  }

  return {
    write,
    writeRun: ({ pattern, texts }) => {
      if (frame?.pattern !== pattern) frame = frameOf(pattern);
      return frame.slots && fillSlots(frame.slots, texts);
    },
    besideOf: ({ extra }) => headed(extra),
  };
}
