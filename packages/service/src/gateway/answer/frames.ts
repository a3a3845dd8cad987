/** Clients of the format read until this frame. A stream that failed ends without it (ER-06). */
export const END_FRAME = 'data: [DONE]\n\n';

/** Writes one value as one server-sent event. */
export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
