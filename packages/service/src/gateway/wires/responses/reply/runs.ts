import type { ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import { isShortText } from '#gateway/output/frame-length.ts';
import { type Events, markedDelta } from '#gateway/wires/responses/items/events.ts';
import { type FrameTemplate, templateOf } from '#gateway/wires/responses/items/event-template.ts';
import type { AnswerItems } from '#gateway/wires/responses/items/items.ts';
import type { NativeRelay } from '#gateway/wires/responses/reply/native.ts';
import type { Part } from '#gateway/wires/responses/items/parts.ts';
import type { OutputPart } from '#gateway/output/output-parts.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';

/** Writes text runs: one event for each text, without looking into any. */
export interface RunWriter {
  /** The frames of a run, in one string; undefined if its chunks must be taken one by one. */
  readonly write: (run: TextRun<Chunk>) => string | undefined;
}

interface RunWays {
  readonly items: Pick<AnswerItems, 'partFor'>;
  readonly native: Pick<NativeRelay, 'runOf'>;
  readonly readOutput: (message: JsonObject) => readonly OutputPart[];
}

/** How the runs of one pattern are written. */
interface Way {
  readonly template: FrameTemplate;
  readonly part: Part;
  /** What is said, unless it is a vendor's own event: it must still only make the part longer. */
  readonly said: OutputPart | undefined;
}

export function createRunWriter(events: Events, { items, native, readOutput }: RunWays): RunWriter {
  /** The way of the newest pattern. A stream goes from one pattern to the next and rarely back. */
  let known: { readonly pattern: ChunkPattern<Chunk>; readonly way: Way } | undefined;

  function wayOf(pattern: ChunkPattern<Chunk>): Way | undefined {
    const { marks } = pattern;
    const [mark = ''] = marks;
    const { choices, native: vendors } = pattern.marked();
    const [choice] = choices;
    if (vendors !== undefined) {
      const [event] = vendors;
      const run = event !== undefined && vendors.length === 1 ? native.runOf(event, marks) : undefined;
      return run && { ...run, said: undefined };
    }
    if (choice === undefined || choices.length > 1 || choice.index !== 0 || isJsonObject(choice['logprobs']))
      return undefined;
    const [said, ...others] = readOutput(choice.delta);
    const part = said === undefined || others.length > 0 ? undefined : items.partFor(said, mark);
    const template = part && templateOf(markedDelta(part.words, mark), [mark]);
    return part && template && { template, part, said };
  }

  function isRight({ said, part }: Way, [mark = '']: readonly string[]): boolean {
    return said === undefined || items.partFor(said, mark) === part;
  }

  return {
    write: ({ pattern, texts, source }) => {
      const [said = []] = texts;
      if (!said.every(isShortText)) return undefined;
      if (known?.pattern !== pattern || !isRight(known.way, pattern.marks)) {
        const way = wayOf(pattern);
        known = way && { pattern, way };
      }
      if (known === undefined) return undefined;
      const { template, part, said: ours } = known.way;
      part.escaped += said.length === 1 ? said[0] : said.join('');
      const came =
        source && ours === undefined ? events.asTheyCame(source.text, source.number, said.length) : undefined;
      return came ?? events.fill(template, texts);
    },
  };
}
