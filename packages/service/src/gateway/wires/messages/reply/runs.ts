import type { ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import { isShortText } from '#gateway/output/frame-length.ts';
import type { Blocks } from '#gateway/wires/messages/blocks/blocks.ts';
import type { Block } from '#gateway/wires/messages/blocks/queue.ts';
import { deltaWords } from '#gateway/wires/messages/blocks/sink.ts';
import type { OutputPart } from '#gateway/output/output-parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';

/** How the runs of one pattern are written. */
interface Way {
  readonly block: Block;
  readonly said: OutputPart;
  readonly before: string;
  readonly after: string;
}

/** Returns what writes text runs, one event for each text, without looking into any. Undefined: its chunks must be taken one by one. */
export function createRunWriter(
  blocks: Pick<Blocks, 'blockFor'>,
  readOutput: (message: JsonObject) => readonly OutputPart[],
): (run: TextRun<Chunk>) => string | undefined {
  /** The way of the newest pattern. A stream goes from one pattern to the next and rarely back. */
  let known: { readonly pattern: ChunkPattern<Chunk>; readonly way: Way } | undefined;

  function wayOf(pattern: ChunkPattern<Chunk>): Way | undefined {
    const { choices } = pattern.marked();
    const [choice] = choices;
    const [mark = ''] = pattern.marks;
    if (choice === undefined || choices.length > 1 || choice.index !== 0) return undefined;
    const [said, ...others] = readOutput(choice.delta);
    const block = said === undefined || others.length > 0 ? undefined : blocks.blockFor(said, mark);
    if (said === undefined || block === undefined || block.kind === 'redacted_thinking') return undefined;
    return { block, said, ...deltaWords(block.index, block.kind) };
  }

  return ({ pattern, texts }) => {
    const [said = []] = texts;
    if (!said.every(isShortText)) return undefined;
    if (known?.pattern !== pattern || blocks.blockFor(known.way.said, pattern.marks[0] ?? '') !== known.way.block) {
      const way = wayOf(pattern);
      known = way && { pattern, way };
    }
    if (known === undefined) return undefined;
    const { block, before, after } = known.way;
    if (block.kind === 'tool_use') block.escaped += said.join('');
    return said.length === 0 ? '' : before + said.join(after + before) + after;
  };
}
