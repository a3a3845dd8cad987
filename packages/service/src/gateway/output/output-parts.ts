import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** One thing that a model has said, in the order in which it stands in an answer of this wire. */
export type OutputPart =
  | Thought
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'citation'; readonly annotation: JsonObject }
  | { readonly kind: 'picture'; readonly address: string }
  | OutputCall;

export interface Thought {
  readonly kind: 'thought';
  /** Thoughts of one key are one item. Without a key, they go on with the item that is open. */
  readonly key: unknown;
  readonly text: string;
  /** The item of `reasoning_details` that it comes from. */
  readonly detail?: JsonObject;
  /** The field of the message that has the text. */
  readonly field?: string;
}

/** A call of a tool, or a piece of one. */
export interface OutputCall {
  readonly kind: 'call';
  readonly call: JsonObject;
  /** Its place among those of its message. */
  readonly place: number;
}

/**
 * Returns what reads the message of an answer, or the deltas of a stream in their order. Thoughts stand in up to four places of one
 * message, of which one is read: the blocks that go back to the vendor if they have text, or else the first place that has any.
 */
export function createOutputReader(): (message: JsonObject) => readonly OutputPart[] {
  let place: ThoughtPlace | undefined;

  function thoughtsIn(message: JsonObject): readonly Thought[] {
    const { reasoning_details: details } = message;
    const blocks = Array.isArray(details) ? details.filter(isJsonObject) : [];
    place ??= placeOf(message, blocks);
    const isInBlocks = place === 'reasoning_details';
    const sealed = blocks.map((detail): Thought => {
      return { kind: 'thought', key: keyOf(detail), text: isInBlocks ? textOfBlock(detail) : '', detail };
    });
    const text = place === undefined || place === 'reasoning_details' ? '' : textAt(message, place);
    return text === '' ? sealed : [{ kind: 'thought', key: sealed[0]?.key, text, field: place ?? '' }, ...sealed];
  }

  return (message) => {
    const { content, refusal, reasoning_content: shown, reasoning, reasoning_details: details } = message;
    const hasThoughts =
      shown !== undefined || reasoning !== undefined || details !== undefined || Array.isArray(content);
    return [
      ...(hasThoughts ? thoughtsIn(message) : []),
      ...textsIn(content),
      ...(isFilled(refusal) ? [{ kind: 'refusal', text: refusal } as const] : []),
      ...listIn(message, 'annotations').map((annotation) => ({ kind: 'citation', annotation }) as const),
      ...listIn(message, 'images').flatMap(pictureOf),
      ...callsIn(message),
    ];
  };
}

const PLACES = ['reasoning_content', 'reasoning', 'content'] as const;
type ThoughtPlace = 'reasoning_details' | (typeof PLACES)[number];

function placeOf(message: JsonObject, blocks: readonly JsonObject[]): ThoughtPlace | undefined {
  if (blocks.some((block) => textOfBlock(block) !== '')) return 'reasoning_details';
  return PLACES.find((place) => textAt(message, place) !== '');
}

function textAt(message: JsonObject, place: (typeof PLACES)[number]): string {
  const value = message[place];
  if (place === 'content') return Array.isArray(value) ? value.map(textOfThinking).join('') : '';
  return typeof value === 'string' ? value : '';
}

/** The number of a block, or the id that its vendor gave it. */
function keyOf({ index, id }: JsonObject): unknown {
  return typeof index === 'number' ? index : id;
}

function textOfBlock({ text, summary }: JsonObject): string {
  return isFilled(text) ? text : isFilled(summary) ? summary : '';
}

function textOfThinking(part: unknown): string {
  const thinking = isJsonObject(part) ? part['thinking'] : undefined;
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking) ? thinking.filter(isJsonObject).map(textOfBlock).join('') : '';
}

/** Some providers send content in parts. */
function textsIn(content: unknown): readonly OutputPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isJsonObject).flatMap(({ text, refusal }): readonly OutputPart[] => {
    if (isFilled(text)) return [{ kind: 'text', text }];
    return isFilled(refusal) ? [{ kind: 'refusal', text: refusal }] : [];
  });
}

function pictureOf({ image_url: image }: JsonObject): readonly OutputPart[] {
  const address = isJsonObject(image) ? image['url'] : undefined;
  return isFilled(address) ? [{ kind: 'picture', address }] : [];
}

function callsIn(message: JsonObject): readonly OutputPart[] {
  const { function_call: called } = message;
  const calls = listIn(message, 'tool_calls');
  // The older word for the same call.
  const all = calls.length === 0 && isJsonObject(called) ? [{ function: called }] : calls;
  return all.map((call, place) => ({ kind: 'call', call, place }));
}

function listIn(message: JsonObject, name: string): readonly JsonObject[] {
  const list = message[name];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
