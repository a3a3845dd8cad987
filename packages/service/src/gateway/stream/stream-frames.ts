import type { ChatCall } from '#gateway/call/call.ts';
import { dataFrame } from '#gateway/answer/frames.ts';
import type { JsonObject } from '#kernel/json.ts';
import { filled, type Gaps, gapsOf } from '#providers/gaps.ts';
import type { MoreText, Pattern } from '#providers/more-text.ts';

/** How the chunks of one stream are written for its caller. */
interface StreamFrames {
  /** The frame of a chunk: what it has beside its choices, and those. */
  readonly write: (beside: JsonObject, choices: unknown) => string;
  /** The frames of chunks that go on from an earlier one; undefined where the places of their texts cannot be told. */
  readonly writeMore: (chunks: MoreText) => string | undefined;
  /** What a chunk has beside its choices. */
  readonly besideOf: (chunk: JsonObject) => JsonObject;
}

interface MoreFrame {
  readonly pattern: Pattern;
  readonly gaps: Gaps | undefined;
}

/** Stand for texts that need no escaping; in no answer by themselves. In ASCII: two bytes a character are dear to write. */
const MARKS = ['~~{said}~~', '~~{padding}~~'];

export function createStreamFrames(call: ChatCall, shape: (chunk: JsonObject) => JsonObject): StreamFrames {
  const nullUsage = call.wantsUsage ? { usage: null } : {};
  /** The frame of all chunks of the newest pattern. */
  let frame: MoreFrame | undefined;

  function write(beside: JsonObject, choices: unknown): string {
    return dataFrame({ ...beside, choices, model: call.model.id, ...nullUsage });
  }

  function frameOf(pattern: Pattern): MoreFrame {
    const marks = MARKS.slice(0, pattern.places);
    const { usage: _usage, choices, ...beside } = shape(pattern.withTexts(marks));
    return { pattern, gaps: gapsOf(write(beside, choices), marks) };
  }

  return {
    write,
    writeMore: ({ pattern, texts }) => {
      if (frame?.pattern !== pattern) frame = frameOf(pattern);
      return frame.gaps && filled(frame.gaps, texts);
    },
    besideOf: (chunk) => {
      const { usage: _usage, choices: _choices, ...beside } = shape(chunk);
      return beside;
    },
  };
}
