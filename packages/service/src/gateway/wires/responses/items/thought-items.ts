import type { Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import type { Events } from '#gateway/wires/responses/items/events.ts';
import type { ItemWriter, OpenItem } from '#gateway/wires/responses/items/item-writer.ts';
import {
  addToPart,
  beginPart,
  createPart,
  endPart,
  type Part,
  partJson,
} from '#gateway/wires/responses/items/parts.ts';
import type { Thought } from '#gateway/output/output-parts.ts';
import { createThoughtBlock, type ThoughtBlock } from '#gateway/output/thought-block.ts';
import type { JsonObject } from '#kernel/text/json.ts';

interface OpenThought extends OpenItem {
  readonly block: ThoughtBlock;
  part: Part | undefined;
  field: string | undefined;
}

/** The fields of a message in which vendors of chat completions want thoughts back that led to calls. */
const FIELDS: ReadonlySet<string | undefined> = new Set(['reasoning', 'reasoning_content']);

/** A block as its vendor wants it back: with its seal, or else the text in the field in which it came. */
function goingBack({ block, part, field }: OpenThought): readonly JsonObject[] | undefined {
  const sealed = block.sealed();
  if (sealed !== undefined || part === undefined || !FIELDS.has(field)) return sealed;
  return [{ type: `message.${field}`, text: JSON.parse(`"${part.escaped}"`) as string }];
}

/**
 * The reasoning of an answer, of which one item is open at a time. Its text is a summary, which clients show. What a vendor has
 * sealed stands in `encrypted_content`, sealed once more by us, because a vendor's block is more than its seal.
 */
export function createThoughts(events: Events, writer: ItemWriter, sealing: Sealing) {
  let thought: OpenThought | undefined;

  function begin(key: unknown): readonly [string, OpenThought] {
    if (thought?.block.isOf(key) === true) return ['', thought];
    const ended = end();
    thought = { ...writer.next('rs'), block: createThoughtBlock(key), part: undefined, field: undefined };
    return [ended + writer.added(thought, thoughtJson(thought, undefined)), thought];
  }

  function partIn(open: OpenThought): readonly [string, Part] {
    if (open.part !== undefined) return ['', open.part];
    open.part = createPart('summary', { itemId: open.id, outputIndex: open.outputIndex, index: 0 });
    return [beginPart(events, open.part), open.part];
  }

  function end(): string {
    if (thought === undefined) return '';
    const ended = thought;
    thought = undefined;
    const parts = ended.part === undefined ? '' : endPart(events, ended.part);
    return parts + writer.done(ended, thoughtJson(ended, contentOf(goingBack(ended))));
  }

  function contentOf(details: readonly JsonObject[] | undefined): string | undefined {
    return details && sealing.ofThoughts(details);
  }

  return {
    take: ({ key, text, detail, field }: Thought): string => {
      const [begun, open] = begin(key);
      open.field ??= field;
      if (detail !== undefined) open.block.add(detail);
      if (text === '') return begun;
      const [more, part] = partIn(open);
      return begun + more + addToPart(events, part, text);
    },
    partFor: ({ key, text: said, detail }: Thought, text: string): Part | undefined =>
      said === text && detail === undefined && thought?.block.isOf(key) === true ? thought.part : undefined,
    end,
    /** An item without a text, for what has no place in others. */
    seal: (details: readonly JsonObject[]): string => {
      const content = details.length === 0 ? undefined : contentOf(details);
      if (content === undefined) return '';
      const item = { ...writer.next('rs'), part: undefined };
      return writer.added(item, thoughtJson(item, undefined)) + writer.done(item, thoughtJson(item, content));
    },
  };
}

function thoughtJson({ id, part }: Pick<OpenThought, 'id' | 'part'>, content: string | undefined): string {
  const sealed = content === undefined ? '' : `,"encrypted_content":${JSON.stringify(content)}`;
  return `{"id":"${id}","type":"reasoning","summary":[${part === undefined ? '' : partJson(part)}]${sealed}}`;
}
