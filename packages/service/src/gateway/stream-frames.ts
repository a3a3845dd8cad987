import type { ChatCall } from '#gateway/call.ts';
import { dataFrame } from '#gateway/frames.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { MoreText } from '#providers/provider.ts';

/** How the chunks of one stream are written for its caller. */
interface StreamFrames {
  /** The frame of a chunk: what it has beside its choices, and those. */
  readonly write: (beside: JsonObject, choices: unknown) => string;
  /** What is around the text of all chunks that are like one; undefined where its place cannot be told. */
  readonly around: (chunk: MoreText) => FrameAround;
}

export interface FrameAround {
  readonly like: JsonObject;
  /** What the chunk has beside its choices. */
  readonly beside: JsonObject;
  readonly sides: { readonly before: string; readonly after: string } | undefined;
}

/** Stands for a text that needs no escaping; in no answer by itself. */
const MARK = '\u{f5e11}\u{10fffd}\u{f5e11}';

export function createStreamFrames(call: ChatCall, shape: (chunk: JsonObject) => JsonObject): StreamFrames {
  const nullUsage = call.wantsUsage ? { usage: null } : {};

  function write(beside: JsonObject, choices: unknown): string {
    return dataFrame({ ...beside, choices, model: call.model.id, ...nullUsage });
  }

  return {
    write,
    around: ({ like, withText }) => {
      const { usage: _none, choices, ...beside } = shape(withText(MARK));
      const sides = write(beside, choices).split(MARK);
      const [before, after] = sides;
      const isOnce = sides.length === 2 && before !== undefined && after !== undefined;
      return { like, beside, sides: isOnce ? { before, after } : undefined };
    },
  };
}
