import type { Events } from '#gateway/wires/responses/items/events.ts';
import { annotationOf } from '#gateway/wires/responses/items/fields.ts';
import type { ItemStatus, ItemWriter, OpenItem } from '#gateway/wires/responses/items/item-writer.ts';
import {
  addToPart,
  addTokens,
  annotatePart,
  beginPart,
  createPart,
  endPart,
  type Part,
  partJson,
} from '#gateway/wires/responses/items/parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';

type TextKind = 'text' | 'refusal';

interface OpenMessage extends OpenItem {
  readonly parts: Part[];
}

/** The messages of an answer, of which one is open at a time. */
export function createMessages(events: Events, writer: ItemWriter) {
  let message: OpenMessage | undefined;
  const openPart = (): Part | undefined => message?.parts.at(-1);

  function begin(): readonly [string, OpenMessage] {
    if (message !== undefined) return ['', message];
    message = { ...writer.next('msg'), parts: [] };
    return [writer.added(message, messageJson(message, 'in_progress')), message];
  }

  function partIn({ id: itemId, outputIndex, parts }: OpenMessage, kind: TextKind): readonly [string, Part] {
    const open = parts.at(-1);
    if (open?.kind === kind) return ['', open];
    const ended = open === undefined ? '' : endPart(events, open);
    const part = createPart(kind, { itemId, outputIndex, index: parts.length });
    const begun = beginPart(events, part);
    parts.push(part);
    return [ended + begun, part];
  }

  return {
    take: (kind: TextKind, text: string, tokens: readonly JsonObject[]): string => {
      const [begun, open] = begin();
      const [more, part] = partIn(open, kind);
      const said = tokens.length === 0 ? addToPart(events, part, text) : addTokens(events, part, text, tokens);
      return begun + more + said;
    },
    /** A citation belongs to the text before it. */
    cite: (annotation: JsonObject): string => {
      const part = openPart();
      const cited = annotationOf(annotation);
      return part?.kind !== 'text' || cited === undefined ? '' : annotatePart(events, part, cited);
    },
    partFor: (kind: TextKind): Part | undefined => {
      const part = openPart();
      return part?.kind === kind ? part : undefined;
    },
    end: (status: ItemStatus): string => {
      if (message === undefined) return '';
      const ended = message;
      const part = openPart();
      message = undefined;
      return (part === undefined ? '' : endPart(events, part)) + writer.done(ended, messageJson(ended, status));
    },
  };
}

function messageJson({ id, parts }: OpenMessage, status: ItemStatus | 'in_progress'): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts.map(partJson).join(',')}]}`;
}
