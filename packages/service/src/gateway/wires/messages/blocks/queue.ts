import { escapedOf } from '#gateway/wires/messages/blocks/events.ts';
import type { BlockSink, DeltaKind } from '#gateway/wires/messages/blocks/sink.ts';
import { type JsonObject, parseJson } from '#kernel/text/json.ts';

export type BlockKind = DeltaKind | 'redacted_thinking';

/** A block of an answer, from its first event to its last. */
export interface Block {
  readonly index: number;
  readonly kind: BlockKind;
  /** Its events, as long as a block before it is open. */
  held: string;
  /** The arguments of a call so far, as JSON writes a text between quotes. */
  escaped: string;
  /** The signature with which a thought ends, '' if it has none. */
  readonly signature: (() => string) | undefined;
  hasEnded: boolean;
}

/**
 * The blocks of an answer, one after the other: clients rely on it that a block ends before the next begins. Pieces of several calls may
 * come in turn, so a call is open until its arguments are whole JSON, and what comes for later blocks waits.
 */
export function createBlockQueue(sink: BlockSink) {
  const open: Block[] = [];
  let blocks = 0;

  /** Writes what can be written. Nothing is open any more if it is the end. */
  function advance(isEnd = false): string {
    let frames = '';
    for (let block = open[0]; block !== undefined; block = open[0]) {
      frames += block.held;
      block.held = '';
      if (!isEnd && (open.length === 1 || !isOver(block))) break;
      frames += end(block);
      open.shift();
    }
    return frames;
  }

  function end(block: Block): string {
    block.hasEnded = true;
    const signature = block.signature?.() ?? '';
    return (signature === '' ? '' : sink.sign(block.index, signature)) + sink.end(block.index);
  }

  function begin(kind: BlockKind, content: JsonObject, signature?: () => string): string {
    const index = blocks;
    blocks += 1;
    open.push({ index, kind, held: sink.begin(index, content), escaped: '', signature, hasEnded: false });
    return advance();
  }

  function text(block: Block | undefined, words: string): string {
    // A call whose arguments were whole says nothing more.
    if (block === undefined || block.hasEnded || block.kind === 'redacted_thinking') return '';
    if (block.kind === 'tool_use') block.escaped += escapedOf(words);
    block.held += sink.text(block.index, block.kind, words);
    return advance();
  }

  return {
    begin,
    text,
    /** A thought that is nothing but its signature. */
    signed: (signature: string): string => begin('thinking', EMPTY_THINKING, () => signature),
    cite: (block: Block, citation: JsonObject): string => {
      block.held += sink.cite(block.index, citation);
      return advance();
    },
    last: (): Block | undefined => open.at(-1),
    /** The block that is open, if no other waits for its end. */
    only: (): Block | undefined => (open.length === 1 ? open[0] : undefined),
    end: () => advance(true),
  };
}

export type BlockQueue = ReturnType<typeof createBlockQueue>;

export const EMPTY_THINKING: JsonObject = { type: 'thinking', thinking: '', signature: '' };

/** Whether a block has ended because another has begun. */
function isOver({ kind, escaped }: Block): boolean {
  if (kind !== 'tool_use') return true;
  // Most pieces do not end the arguments, and need not be parsed.
  if (!escaped.trimEnd().endsWith('}')) return false;
  return parseJson(JSON.parse(`"${escaped}"`) as string) !== undefined;
}
