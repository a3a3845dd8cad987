import { isShortFrame, piecesOf } from '#gateway/output/frame-length.ts';
import { escapedOf, eventFrame } from '#gateway/wires/messages/blocks/events.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The texts of blocks: the type of their deltas, and the member that has the text. */
export const DELTAS = {
  text: { type: 'text_delta', member: 'text' },
  thinking: { type: 'thinking_delta', member: 'thinking' },
  tool_use: { type: 'input_json_delta', member: 'partial_json' },
} as const;
export type DeltaKind = keyof typeof DELTAS;

/** Takes the blocks of an answer. It returns the events of a stream, or nothing. */
export interface BlockSink {
  readonly begin: (index: number, block: JsonObject) => string;
  readonly text: (index: number, kind: DeltaKind, text: string) => string;
  readonly sign: (index: number, signature: string) => string;
  readonly cite: (index: number, citation: JsonObject) => string;
  readonly end: (index: number) => string;
}

/** Writes the events of blocks. */
export const EVENTS: BlockSink = {
  begin: (index, block) =>
    eventFrame('content_block_start', `,"index":${index},"content_block":${JSON.stringify(block)}`),
  text: (index, kind, text) => {
    const { before, after } = deltaWords(index, kind);
    const escaped = escapedOf(text);
    if (isShortFrame(escaped)) return before + escaped + after;
    return piecesOf(text)
      .map((piece) => before + escapedOf(piece) + after)
      .join('');
  },
  sign: (index, signature) => delta(index, { type: 'signature_delta', signature }),
  cite: (index, citation) => delta(index, { type: 'citations_delta', citation }),
  end: (index) => eventFrame('content_block_stop', `,"index":${index}`),
};

function delta(index: number, value: JsonObject): string {
  return eventFrame('content_block_delta', `,"index":${index},"delta":${JSON.stringify(value)}`);
}

/** The event of a delta before and behind its text. */
export function deltaWords(index: number, kind: DeltaKind): { readonly before: string; readonly after: string } {
  const { type, member } = DELTAS[kind];
  const before = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":"`;
  return { before, after: '"}}\n\n' };
}
