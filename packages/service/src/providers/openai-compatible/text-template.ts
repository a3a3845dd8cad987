import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { type Gaps, gapsOf } from '#providers/gaps.ts';
import { LABELS } from '#providers/labels.ts';
import { MoreText, type Pattern, unquoted } from '#providers/more-text.ts';

/**
 * The bytes of a chunk around its texts. Most chunks of a stream differ in these alone, and one that does is known without
 * being parsed.
 */
export interface TextTemplate {
  /**
   * The chunks that begin at `at`, whole and like this one but for their texts, as many as come in a row; undefined where
   * another one comes.
   */
  readonly find: (text: string, at: number) => { readonly chunks: MoreText; readonly end: number } | undefined;
}

/** Beside the choices: random text that hides how long a chunk's own is. */
const PADDING = 'obfuscation';
/** What JSON writes otherwise than it reads, or not at all. */
const ESCAPED = /["\\\p{Cc}]/u;
/**
 * Stand for any texts: if the chunk with them is the chunk but for them, then so it is with all. In ASCII, or all that is cut
 * out beside them would take two bytes a character, and be compared and written at half the speed.
 */
const MARKS = ['~~<said>~~', '~~<padding>~~'];
const BACKSLASH = 92;
/** A row is written at once, longer than it came, and what a reader does not take of it waits in memory. */
const ROW_CHARACTERS_MAX = 4 * 1024;

/** The template of a chunk that came as `raw`, an event whose data is `data`; undefined where its texts cannot be told. */
export function textTemplateOf(chunk: JsonObject, data: string, raw: string): TextTemplate | undefined {
  const slots = slotsOf(chunk);
  if (slots === undefined || raw !== `data: ${data}\n\n`) return undefined;
  const { said, withTexts } = slots;
  const marked = markedOf(raw, said);
  const marks = MARKS.slice(0, said.length);
  const gaps = marked === undefined ? undefined : gapsOf(marked, marks);
  if (marked === undefined || gaps === undefined) return undefined;
  // Whoever writes as we do is believed by that: what was written from it means it.
  const wanted = JSON.stringify(withTexts(marks));
  const written = marked.slice('data: '.length, -'\n\n'.length);
  if (written !== wanted && JSON.stringify(parseJson(written)) !== wanted) return undefined;
  return createTemplate(gaps, { places: said.length, withTexts });
}

function createTemplate({ around, order }: Gaps, pattern: Pattern): TextTemplate {
  const before = around[0] ?? '';
  const after = around[order.length] ?? '';

  /** Adds the texts of the chunk whose first one begins at `start`, and gives the place behind it; -1 where it is no such chunk. */
  function read(text: string, start: number, texts: readonly string[][]): number {
    let from = start;
    for (let gap = 0; gap < order.length; gap += 1) {
      const end = endOfText(text, from);
      const behind = around[gap + 1] ?? '';
      if (end === -1 || text.slice(end, end + behind.length) !== behind) return -1;
      texts[order[gap] ?? 0]?.push(text.slice(from, end));
      from = end + behind.length;
    }
    return from;
  }

  /** The same as what follows, for a third of its price, for a chunk of one text that is all that came: so are most. */
  function findAlone(text: string, at: number): { readonly chunks: MoreText; readonly end: number } | undefined {
    const start = at + before.length;
    const end = text.length - after.length;
    if (end < start || text.slice(at, start) !== before || text.slice(end) !== after) return undefined;
    const said = text.slice(start, end);
    if (ESCAPED.test(said)) return undefined;
    return { chunks: new MoreText(pattern, [[said]], Buffer.byteLength(said)), end: text.length };
  }

  return {
    find: (text, at) => {
      const alone = order.length === 1 ? findAlone(text, at) : undefined;
      if (alone !== undefined) return alone;
      const texts: readonly string[][] = order.map(() => []);
      const ends: number[] = [];
      // Comparing slices is four times as fast as `startsWith`.
      for (let from = at; text.slice(from, from + before.length) === before; from = ends.at(-1) ?? 0) {
        if (from - at > ROW_CHARACTERS_MAX) break;
        const end = read(text, from + before.length, texts);
        if (end === -1) break;
        ends.push(end);
      }
      const chunks = ends.length === 0 ? undefined : rowOf(pattern, texts, ends.length);
      const end = ends[(chunks?.texts[0]?.length ?? 0) - 1];
      return chunks === undefined || end === undefined ? undefined : { chunks, end };
    },
  };
}

/** The place of the quote behind the text that begins at `from`; where that is not sure, what is found is no text. */
function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf('"', end + 1);
  return end;
}

/** Of so many chunks, those up to the first whose texts could not stand between quotes. */
function rowOf(pattern: Pattern, texts: readonly (readonly string[])[], count: number): MoreText {
  const whole = texts.map((ofPlace) => (ofPlace.length === count ? ofPlace : ofPlace.slice(0, count)));
  const [said = '', padding = ''] = whole.map((ofPlace) => ofPlace.join(''));
  if (!ESCAPED.test(said) && !ESCAPED.test(padding)) return new MoreText(pattern, whole, Buffer.byteLength(said));
  const rewritten: readonly string[][] = texts.map(() => []);
  let bytes = 0;
  for (let time = 0; time < count; time += 1) {
    const written = whole.map((ofPlace) => rewrittenOf(ofPlace[time] ?? ''));
    if (written.includes(undefined)) break;
    for (const [place, text = ''] of written.entries()) rewritten[place]?.push(text);
    bytes += Buffer.byteLength(unquoted(written[0] ?? ''));
  }
  return new MoreText(pattern, rewritten, bytes);
}

/** A text from between quotes as we would write it; undefined where it could not stand there. */
function rewrittenOf(text: string): string | undefined {
  if (!ESCAPED.test(text)) return text;
  const value = parseJson(`"${text}"`);
  return typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : undefined;
}

interface Said {
  readonly name: string;
  readonly text: string;
}

interface Slots {
  readonly said: readonly Said[];
  readonly withTexts: (texts: readonly string[]) => JsonObject;
}

/** Where the texts of a chunk lie that does nothing but go on. */
function slotsOf(chunk: JsonObject): Slots | undefined {
  const { choices, usage, [PADDING]: padding } = chunk;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isJsonObject(choice) || isGiven(usage) || isGiven(choice['finish_reason'])) return undefined;
  const { delta } = choice;
  if (!isJsonObject(delta)) return undefined;
  const said = Object.entries(delta).filter(([name, value]) => !LABELS.has(name) && isGiven(value));
  const [only] = said;
  if (said.length !== 1 || only === undefined || typeof only[1] !== 'string') return undefined;
  const [name, text] = only;
  const saying = (other: string) => ({ ...chunk, choices: [{ ...choice, delta: { ...delta, [name]: other } }] });
  if (typeof padding !== 'string') return { said: [{ name, text }], withTexts: ([other = '']) => saying(other) };
  return {
    said: [
      { name, text },
      { name: PADDING, text: padding },
    ],
    withTexts: ([other = '', pad = '']) => ({ ...saying(other), [PADDING]: pad }),
  };
}

/** The text of a chunk with marks for what it says, where there is but one place that each can be in. */
function markedOf(raw: string, said: readonly Said[]): string | undefined {
  let marked = raw;
  for (const [index, { name, text }] of said.entries()) {
    const label = raw.includes(`${JSON.stringify(name)}: `) ? `${JSON.stringify(name)}: ` : `${JSON.stringify(name)}:`;
    const written = label + JSON.stringify(text);
    const at = marked.indexOf(written);
    if (at === -1 || at !== marked.lastIndexOf(written)) return undefined;
    marked = `${marked.slice(0, at + label.length + 1)}${MARKS[index]}${marked.slice(at + written.length - 1)}`;
  }
  return marked;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
