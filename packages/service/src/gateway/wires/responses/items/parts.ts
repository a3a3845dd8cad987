import { type DeltaWords, escapedOf, type Events } from '#gateway/wires/responses/items/events.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** A text of an item as it grows: of a message, of a thought, or of a call. */
export interface Part {
  readonly kind: PartKind;
  /** The members that say where it is, as JSON with the comma before the first. */
  readonly place: string;
  readonly words: DeltaWords;
  /** All of it, as JSON writes it between quotes. Deltas come so, and nothing else is done with it before its end. */
  escaped: string;
  readonly tokens: JsonObject[];
  readonly annotations: JsonObject[];
}

export type PartKind = 'text' | 'refusal' | 'summary' | 'thinking' | 'arguments' | 'input';

interface Words {
  /** The name of its events, to which `.delta` and `.done` are added. */
  readonly event: string;
  /** The member of its last event that has the whole text. */
  readonly member: string;
  /** The events of the part around its texts, to which `.added` and `.done` are added. Calls have none. */
  readonly around?: string;
  /** The member that has its number. */
  readonly numbered?: string;
}

const WORDS: Readonly<Record<PartKind, Words>> = {
  text: { event: 'response.output_text', member: 'text', around: 'response.content_part', numbered: 'content_index' },
  refusal: { event: 'response.refusal', member: 'refusal', around: 'response.content_part', numbered: 'content_index' },
  summary: {
    event: 'response.reasoning_summary_text',
    member: 'text',
    around: 'response.reasoning_summary_part',
    numbered: 'summary_index',
  },
  thinking: {
    event: 'response.reasoning_text',
    member: 'text',
    around: 'response.content_part',
    numbered: 'content_index',
  },
  arguments: { event: 'response.function_call_arguments', member: 'arguments' },
  input: { event: 'response.custom_tool_call_input', member: 'input' },
};

export const KIND_OF_DELTA = kindsOf('delta');
export const KIND_OF_DONE = kindsOf('done');

function kindsOf(end: 'delta' | 'done'): ReadonlyMap<unknown, PartKind> {
  return new Map((Object.keys(WORDS) as PartKind[]).map((kind) => [`${WORDS[kind].event}.${end}`, kind]));
}

interface PartPlace {
  readonly itemId: string;
  readonly outputIndex: number;
  /** Its number among those of its item. */
  readonly index: number;
}

export function createPart(kind: PartKind, { itemId, outputIndex, index }: PartPlace): Part {
  const { event, numbered } = WORDS[kind];
  const number = numbered === undefined ? '' : `,"${numbered}":${index}`;
  const place = `,"item_id":${JSON.stringify(itemId)},"output_index":${outputIndex}${number}`;
  const after = kind === 'text' ? '","logprobs":[]' : '"';
  const words = { type: `${event}.delta`, before: `${place},"delta":"`, after };
  return { kind, place, words, escaped: '', tokens: [], annotations: [] };
}

/** The event with which a part begins. */
export function beginPart(events: Events, part: Part): string {
  const { around } = WORDS[part.kind];
  return around === undefined ? '' : events.write(`${around}.added`, `${part.place},"part":${partJson(part)}`);
}

export function addToPart(events: Events, part: Part, text: string): string {
  const escaped = escapedOf(text);
  part.escaped += escaped;
  return events.delta(part.words, escaped);
}

/** More text with the probabilities of its tokens. */
export function addTokens(events: Events, part: Part, text: string, tokens: readonly JsonObject[]): string {
  const escaped = escapedOf(text);
  part.escaped += escaped;
  for (const token of tokens) part.tokens.push(token);
  return events.write(part.words.type, `${part.words.before}${escaped}","logprobs":${JSON.stringify(tokens)}`);
}

export function annotatePart(events: Events, part: Part, annotation: JsonObject): string {
  const place = `${part.place},"annotation_index":${part.annotations.length}`;
  part.annotations.push(annotation);
  return events.write('response.output_text.annotation.added', `${place},"annotation":${JSON.stringify(annotation)}`);
}

/** The events with which a part ends. */
export function endPart(events: Events, part: Part): string {
  const { event, member, around } = WORDS[part.kind];
  const tokens = part.kind === 'text' ? `,"logprobs":${JSON.stringify(part.tokens)}` : '';
  const done = events.write(`${event}.done`, `${part.place},"${member}":"${part.escaped}"${tokens}`);
  return around === undefined ? done : done + events.write(`${around}.done`, `${part.place},"part":${partJson(part)}`);
}

/** A part as it stands in its item. */
export function partJson({ kind, escaped, tokens, annotations }: Part): string {
  switch (kind) {
    case 'refusal':
      return `{"type":"refusal","refusal":"${escaped}"}`;
    case 'summary':
      return `{"type":"summary_text","text":"${escaped}"}`;
    case 'thinking':
      return `{"type":"reasoning_text","text":"${escaped}"}`;
    case 'text':
    case 'arguments':
    case 'input':
      return `{"type":"output_text","text":"${escaped}","annotations":${JSON.stringify(annotations)},"logprobs":${JSON.stringify(tokens)}}`;
  }
}
