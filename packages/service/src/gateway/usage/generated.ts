import type { Tokenizer } from '@purser/contract/catalogue.ts';
import { InlinePictures } from '#gateway/usage/inline-pictures.ts';
import { createTokenCounter } from '#gateway/usage/token-counter.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

type Visit = (text: string) => void;

/**
 * Visits each text that a model wrote into a message or delta and that its caller gets, once: content, refusal, reasoning, the names and
 * arguments of tool calls, and what was spoken. Pictures, citations, signatures and sealed reasoning are no text of a model, and fields
 * that we do not know reach nobody (CC-21). Returns the bytes of the texts.
 */
export function visitGenerated(
  message: unknown,
  visit: Visit,
  thoughts?: ThoughtPlaces,
  drawn = new InlinePictures(),
): number {
  if (!isJsonObject(message)) return 0;
  const { content, refusal, tool_calls: calls, function_call: called, audio } = message;
  let bytes = visitContent(content, visit, drawn) + visitText(refusal, visit) + visitThoughts(message, visit, thoughts);
  if (Array.isArray(calls) && calls.length > 0) {
    for (const call of calls) if (isJsonObject(call)) bytes += visitCall(call, visit);
  } else bytes += visitFunction(called, visit); // The older word for the same call.
  if (isJsonObject(audio)) bytes += visitText(audio['transcript'], visit);
  return bytes;
}

/** How many pictures stand beside the text of a message or delta. Their bytes say nothing of their tokens. */
function picturesBeside(message: unknown): number {
  const images = isJsonObject(message) ? message['images'] : undefined;
  return Array.isArray(images) ? images.filter(isPicture).length : 0;
}

function visitSaid(text: unknown, visit: Visit, drawn: InlinePictures): number {
  return visitText(typeof text === 'string' ? drawn.take(text) : text, visit);
}

function isPicture(item: unknown): boolean {
  const image = isJsonObject(item) ? item['image_url'] : undefined;
  return isJsonObject(image) && isFilled(image['url']);
}

function visitText(text: unknown, visit: Visit): number {
  if (typeof text !== 'string') return 0;
  visit(text);
  return Buffer.byteLength(text);
}

/** Some providers send content in parts. */
function visitContent(content: unknown, visit: Visit, drawn: InlinePictures): number {
  if (!Array.isArray(content)) return visitSaid(content, visit, drawn);
  let bytes = 0;
  for (const part of content)
    if (isJsonObject(part)) bytes += visitSaid(part['text'], visit, drawn) + visitText(part['refusal'], visit);
  return bytes;
}

/** Where the first thoughts of an answer stood. */
type ThoughtPlaces = Set<string>;

/**
 * Reasoning stands in up to four places of one message: as a text under one or two names, in blocks to send back, and in parts of the
 * content. What one place repeats of another counts once, and so does what a later chunk of a stream has in another place.
 */
function visitThoughts(message: JsonObject, visit: Visit, thoughts?: ThoughtPlaces): number {
  const { reasoning_content: shown, reasoning, reasoning_details: details, content } = message;
  const hasParts = Array.isArray(content);
  if (!hasParts && shown === undefined && reasoning === undefined && details === undefined) return 0;
  const known = thoughts ?? new Set();
  const isText = isFilled(shown) || isFilled(reasoning);
  const places: readonly (readonly [place: string, text: string])[] = [
    ['reasoning_content', isFilled(shown) ? shown : ''],
    ['reasoning', isFilled(reasoning) ? reasoning : ''],
    ['reasoning_details', !isText && Array.isArray(details) ? details.map(textOfBlock).join('') : ''],
    ['content', hasParts ? content.map(textOfThinking).join('') : ''],
  ];
  const said = places.filter(([, text]) => text !== '');
  if (known.size > 0 && !said.some(([place]) => known.has(place))) return 0;
  if (known.size === 0) for (const [place] of said) known.add(place);
  let bytes = 0;
  for (const [place, [, text]] of said.entries()) {
    const isRepeated = said.some(
      ([, other], at) => at !== place && (at < place ? includes(other, text) : holds(other, text)),
    );
    if (!isRepeated) bytes += visitText(text, visit);
  }
  return bytes;
}

/** Whether a text has another one in it, and more. */
function holds(text: string, other: string): boolean {
  return text.length > other.length && includes(text, other);
}

/** What of a text is searched for. V8 searches for longer ones in quadratic time, if they repeat themselves. */
const SOUGHT_CHARACTERS_MAX = 200;
/** How often its beginning may be found without the rest. */
const FINDS_MAX = 8;

/** Does what `text.includes(other)` does in linear time, because a server decides what both are, up to megabytes. */
function includes(text: string, other: string): boolean {
  const beginning = other.slice(0, SOUGHT_CHARACTERS_MAX);
  let at = text.indexOf(beginning);
  for (let found = 0; at !== -1 && found < FINDS_MAX; found += 1) {
    if (text.startsWith(other, at)) return true;
    at = text.indexOf(beginning, at + 1);
  }
  return false;
}

function textOfBlock(block: unknown): string {
  if (!isJsonObject(block)) return '';
  const { text, summary } = block;
  return isFilled(text) ? text : isFilled(summary) ? summary : '';
}

function textOfThinking(part: unknown): string {
  const thinking = isJsonObject(part) ? part['thinking'] : undefined;
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking) ? thinking.map(textOfBlock).join('') : '';
}

function visitCall({ function: called, custom }: JsonObject, visit: Visit): number {
  let bytes = visitFunction(called, visit);
  if (isJsonObject(custom)) bytes += visitText(custom['name'], visit) + visitText(custom['input'], visit);
  return bytes;
}

function visitFunction(called: unknown, visit: Visit): number {
  if (!isJsonObject(called)) return 0;
  const { name, arguments: words } = called;
  const isObject = typeof words === 'object' && words !== null;
  return visitText(name, visit) + visitText(isObject ? JSON.stringify(words) : words, visit);
}

/** Pieces of a picture in the content are something that is said, and no text. */
function hasContent(said: unknown): boolean {
  return isJsonObject(said) && isFilled(said['content']);
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** What a model has generated, by our own count. */
export interface OwnCount {
  readonly textTokens: number;
  readonly pictures: number;
}

/** A message or delta of the choice with this number. */
interface GeneratedMessage {
  readonly index: number;
  readonly said: unknown;
}

/** Counts what the messages or deltas of one answer say, as they come. */
export interface GeneratedCounter {
  /** Counts messages or deltas. Returns whether they say anything. */
  readonly add: (messages: readonly GeneratedMessage[]) => boolean;
  /** Counts text that came without its messages. `bytes` is its length, `content` the choice whose content it is, if it is any. */
  readonly addText: (text: { readonly said: string; readonly bytes: number }, content: number | undefined) => void;
  /** Whether texts without their messages only repeat thoughts that stood in another place. `delta`: one of them, filled. */
  readonly repeats: (delta: unknown) => boolean;
  /** The bytes of all texts. */
  readonly bytes: () => number;
  readonly count: () => OwnCount;
}

export function createGeneratedCounter(tokenizer: Tokenizer): GeneratedCounter {
  const counter = createTokenCounter(tokenizer);
  let bytes = 0;
  let pictures = 0;
  const thoughts: ThoughtPlaces = new Set();
  /** The pictures in the content of each choice. */
  const drawn = new Map<number, InlinePictures>();

  function drawnOf(index: number): InlinePictures {
    const known = drawn.get(index);
    if (known !== undefined) return known;
    const begun = new InlinePictures();
    drawn.set(index, begun);
    return begun;
  }

  return {
    add: (messages) => {
      let hasSaid = false;
      for (const { index, said } of messages) {
        const more = visitGenerated(said, counter.add, thoughts, drawnOf(index));
        const beside = picturesBeside(said);
        bytes += more;
        pictures += beside;
        hasSaid ||= more + beside > 0 || hasContent(said);
      }
      return hasSaid;
    },
    addText: (text, content) => {
      const taken = content === undefined ? text.said : drawnOf(content).take(text.said);
      counter.add(taken);
      bytes += taken === text.said ? text.bytes : Buffer.byteLength(taken);
    },
    repeats: (delta) => {
      const said = isJsonObject(delta) ? delta : {};
      const place = ['reasoning_content', 'reasoning'].find((name) => isFilled(said[name]));
      if (place === undefined) return false;
      if (thoughts.size === 0) thoughts.add(place);
      return !thoughts.has(place);
    },
    bytes: () => bytes,
    count: () => {
      let all = pictures;
      for (const ofChoice of drawn.values()) {
        counter.add(ofChoice.flush());
        all += ofChoice.count();
      }
      return { textTokens: counter.tokens(), pictures: all };
    },
  };
}

/** The bytes of what the messages of a whole answer say, and a function that counts it. */
export function generatedIn(
  choices: readonly { readonly message: unknown }[],
  tokenizer: Tokenizer,
): { readonly bytes: number; readonly count: () => OwnCount } {
  let bytes = 0;
  for (const { message } of choices) bytes += visitGenerated(message, ignore);
  const count = (): OwnCount => {
    const counter = createGeneratedCounter(tokenizer);
    counter.add(choices.map(({ message }, index) => ({ index, said: message })));
    return counter.count();
  };
  return { bytes, count };
}

function ignore(): void {}
