import type { CallId } from '#kernel/values/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';

/** Clients of the format read until this frame. A stream that failed ends without it (ER-06). */
const END_FRAME = 'data: [DONE]\n\n';

/** Writes one value as one server-sent event. */
export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The end of a stream, as it is known before the settlement says what the call is charged. */
export interface ChatEnd extends JsonObject {
  readonly callId: CallId;
  /** The chunk with the usage, if the caller asked for it. */
  readonly usageChunk?: JsonObject;
}

/**
 * The last frames of a stream that was charged. The charge is a field of the usage chunk, which clients hand to their app,
 * and a comment, which is there for every caller and which no client of the format takes for a part of the answer.
 */
export function endFrames({ callId, usageChunk }: JsonObject & { readonly callId: CallId }, charged: Micros): string {
  const micros = microsToWire(charged);
  const usage = isJsonObject(usageChunk) ? dataFrame({ ...usageChunk, charge_micros: micros }) : '';
  return `${usage}: charge-micros=${micros} call-id=${callId}\n\n${END_FRAME}`;
}
