import { fillSlots, slotsOf, type TemplateSlots } from '@purser/text-runs/template-slots.ts';
import type { ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import type { ReplyCall } from '#gateway/call/wire.ts';
import { dataFrame } from '#gateway/wires/chat/frames.ts';
import { createChunkHead } from '#gateway/wires/chat/head.ts';
import { inShortChunks } from '#gateway/wires/chat/long-frames.ts';
import { isShortFrame, mayBeLong } from '#gateway/output/frame-length.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk, ChunkChoice } from '#providers/port/completion.ts';
import { visibleChoices } from '#providers/answers/visible-fields.ts';

/** Writes the chunks of one stream for its caller, under the resolved model identifier (CC-04). */
interface StreamFrames {
  /** The frame of a chunk, from its choices and its other members. A chunk that is too long for clients has several. */
  readonly write: (beside: JsonObject, choices: readonly ChunkChoice[]) => string;
  /** The frames of a text run, in one string; undefined if the places of its texts are not certain, or if one may be too long. */
  readonly writeRun: (run: TextRun<Chunk>) => string | undefined;
  /** The members of a chunk beside its choices. */
  readonly besideOf: (chunk: Chunk) => JsonObject;
}

interface RunFrame {
  readonly pattern: ChunkPattern<Chunk>;
  readonly slots: TemplateSlots | undefined;
}

export function createStreamFrames(call: ReplyCall): StreamFrames {
  const headed = createChunkHead(call.callId);
  const nullUsage = call.wantsUsage ? { usage: null } : {};
  /** The frame of the newest pattern. A stream goes from one pattern to the next and rarely back. */
  let frame: RunFrame | undefined;

  function frameWith(beside: JsonObject, choices: readonly JsonObject[]): string {
    return dataFrame({ ...beside, choices, model: call.model.id, ...nullUsage });
  }

  function write(beside: JsonObject, choices: readonly ChunkChoice[]): string {
    const visible = visibleChoices(choices);
    const whole = frameWith(beside, visible);
    return isShortFrame(whole) ? whole : inFrames(beside, visible);
  }

  /** What stands beside the choices is said once, apart from the head that all chunks of a stream have. */
  function inFrames(beside: JsonObject, choices: readonly JsonObject[]): string {
    const { id, object, created } = beside;
    const chunks = inShortChunks(choices, Buffer.byteLength(frameWith(beside, [])));
    return chunks.map((choice, place) => frameWith(place === 0 ? beside : { id, object, created }, [choice])).join('');
  }

  function frameOf(pattern: ChunkPattern<Chunk>): RunFrame {
    const { choices, extra } = pattern.marked();
    return { pattern, slots: slotsOf(write(headed(extra), choices), pattern.marks) };
  }

  return {
    write,
    writeRun: ({ pattern, texts }) => {
      if (frame?.pattern !== pattern) frame = frameOf(pattern);
      const written = frame.slots && fillSlots(frame.slots, texts);
      return written !== undefined && mayBeLong(written, texts) ? undefined : written;
    },
    besideOf: ({ extra }) => headed(extra),
  };
}
