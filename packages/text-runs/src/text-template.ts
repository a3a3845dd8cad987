import { slotsOf, type TemplateSlots } from './template-slots.ts';
import { type ChunkPattern, patternOf, type RunSource, TextRun, unescaped } from './text-run.ts';

/** A text of a chunk, and the name of its member in the JSON. */
interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A whole number that differs from event to event, such as their count. */
interface NamedNumber {
  readonly name: string;
  readonly value: number;
}

/** An event of a stream and the texts by which later events may differ from it. */
export interface TemplateEvent<Chunk> {
  /** The event as it came: `data: ` and the JSON of the chunk, with the name of the event before it or not. */
  readonly raw: string;
  /** The JSON of the chunk. */
  readonly data: string;
  /** One or two: the generated text, and padding if the chunk has any. */
  readonly texts: readonly NamedText[];
  /** Its digits are passed over: nobody is told the numbers of a run, unless they are in a row and the source is kept. */
  readonly number?: NamedNumber | undefined;
  /** Whether runs keep the events as they came, if their numbers are in a row: takers may hand them on. */
  readonly keepsSource?: boolean | undefined;
  /** Any blanks may stand before the last bracket, so that nobody reads the length of the text from that of the event. */
  readonly isPadded?: boolean | undefined;
  /** The parsed JSON with other texts, and with this in the place of the number if it is given. */
  readonly withTexts: (texts: readonly string[], number?: string) => ParsedJson;
  /** The chunk that parsed JSON is read as. */
  readonly chunkOf: (parsed: ParsedJson) => Chunk;
}

type ParsedJson = Readonly<Record<string, unknown>>;

/** Recognises events that equal an earlier one byte for byte except for its texts. */
export interface TextTemplate<Chunk> {
  /**
   * Matches as many whole events in a row as it can, from `at` on. `end` is the offset behind them. Undefined if the next
   * event does not match: it must be parsed.
   */
  readonly find: (text: string, at: number) => TextMatch<Chunk> | undefined;
}

interface TextMatch<Chunk> {
  readonly run: TextRun<Chunk>;
  readonly end: number;
}

const BEFORE_DATA = /^(?:event: [^\r\n]*\n)?data: $/;
const AFTER_DATA = '\n\n';
const LAST_BRACKET = `}${AFTER_DATA}`;
const BLANK = 32;
const NUMBER_MARK = '~~<number>~~';
/** What JSON writes between quotes in another form than it reads, or must not hold there. */
const ESCAPED = /["\\\p{Cc}]/u;
const BACKSLASH = 92;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
/** What may follow a number, in an object. */
const AFTER_NUMBER = /^[,}\s]/;
/** Where a run is broken off. It is written in one piece, and what a slow reader does not take waits in memory. */
const RUN_CHARACTERS_MAX = 4 * 1024;

/**
 * The template of an event. Undefined if the places of its texts are not certain: then no event may be skipped, because a
 * wrong guess would change what callers read and pay.
 */
export function textTemplateOf<Chunk>(event: TemplateEvent<Chunk>): TextTemplate<Chunk> | undefined {
  const { texts, number, keepsSource = false, isPadded = false, withTexts, chunkOf } = event;
  const raw = isPadded ? unpadded(event.raw, LAST_BRACKET) : event.raw;
  const data = isPadded ? unpadded(event.data, '}') : event.data;
  const before = raw.slice(0, -(data.length + AFTER_DATA.length));
  if (!BEFORE_DATA.test(before) || raw !== before + data + AFTER_DATA) return undefined;
  const pattern = patternOf(texts.length, (values: readonly string[]) => chunkOf(withTexts(values)));
  const { marks } = pattern;
  const textsMarked = markedOf(raw, texts, marks);
  const marked = textsMarked === undefined || number === undefined ? textsMarked : numberMarked(textsMarked, number);
  if (marked === undefined) return undefined;
  const slots = slotsOf(marked, number === undefined ? marks : [...marks, quoted(NUMBER_MARK)]);
  if (slots === undefined) return undefined;
  // The proof: the event with marks for its texts must mean the chunk with marks for its texts. Then it holds for any texts.
  const wanted = JSON.stringify(number === undefined ? withTexts(marks) : withTexts(marks, NUMBER_MARK));
  const written = marked.slice(before.length, -AFTER_DATA.length);
  // Most providers write as `JSON.stringify` does. Equal text means the same, and need not be parsed.
  if (written !== wanted && rewritten(written) !== wanted) return undefined;
  return createTemplate(slots, pattern, { numberAt: number === undefined ? -1 : texts.length, keepsSource, isPadded });
}

interface Differences {
  /** Which of its values is a number; -1 if none is. */
  readonly numberAt: number;
  readonly keepsSource: boolean;
  readonly isPadded: boolean;
}

function createTemplate<Chunk>(
  { literals: all, order }: TemplateSlots,
  pattern: ChunkPattern<Chunk>,
  { numberAt, keepsSource, isPadded }: Differences,
): TextTemplate<Chunk> {
  const tail = isPadded ? LAST_BRACKET : '';
  const literals = all.with(order.length, (all[order.length] ?? '').slice(0, -tail.length || undefined));
  const before = literals[0] ?? '';
  const after = literals[order.length] ?? '';
  const textOrder = order.filter((place) => place !== numberAt);
  /** The number of the event that was read last. */
  let newest = 0;

  /** Adds the texts of the event whose first text begins at `start`. Returns the offset behind the event; -1 if it differs. */
  function read(text: string, start: number, texts: readonly string[][]): number {
    let from = start;
    for (let slot = 0; slot < order.length; slot += 1) {
      const end = order[slot] === numberAt ? endOfNumber(text, from) : endOfText(text, from);
      const behind = literals[slot + 1] ?? '';
      if (end === -1 || text.slice(end, end + behind.length) !== behind) return -1;
      if (order[slot] !== numberAt) texts[order[slot] ?? 0]?.push(text.slice(from, end));
      else if (keepsSource) newest = numberBetween(text, from, end);
      from = end + behind.length;
    }
    return isPadded ? endOfPadding(text, from) : from;
  }

  /** The usual case at a third of the cost: an event with one text that is all that is left of the read. */
  function findAlone(text: string, at: number): TextMatch<Chunk> | undefined {
    const start = at + before.length;
    let close = text.length - tail.length;
    if (isPadded) {
      if (text.slice(close) !== tail) return undefined;
      close = beginOfBlanks(text, close);
    }
    const end = close - after.length;
    if (end < start || text.slice(at, start) !== before || text.slice(end, close) !== after) return undefined;
    const value = text.slice(start, end);
    // If more events follow in this read, the value holds their quotes, and the loop below takes the events one by one.
    if (ESCAPED.test(value)) return undefined;
    return { run: new TextRun(pattern, [[value]], { said: value, bytes: Buffer.byteLength(value) }), end: text.length };
  }

  return {
    find: (text, at) => {
      const alone = order.length === 1 ? findAlone(text, at) : undefined;
      if (alone !== undefined) return alone;
      const texts = textOrder.map((): string[] => []);
      const ends: number[] = [];
      let [first, isInRow] = [0, keepsSource];
      // Comparing slices takes 62 nanoseconds for each event, `startsWith` 270 (decision 28).
      for (let from = at; text.slice(from, from + before.length) === before; from = ends.at(-1) ?? 0) {
        if (from - at > RUN_CHARACTERS_MAX) break;
        const end = read(text, from + before.length, texts);
        if (end === -1) break;
        if (ends.length === 0) first = newest;
        isInRow &&= newest === first + ends.length;
        ends.push(end);
      }
      if (ends.length === 0) return undefined;
      const sourceOf = (count: number): RunSource | undefined =>
        isInRow ? { text: text.slice(at, ends[count - 1]), number: first } : undefined;
      const run = runOf(pattern, texts, { count: ends.length, sourceOf });
      const end = ends[(run.texts[0]?.length ?? 0) - 1];
      return end === undefined ? undefined : { run, end };
    },
  };
}

/**
 * The offset of the quote that ends the text at `from`; -1 if there is none. A quote behind two backslashes does end its
 * text, and is passed over all the same: what is found then does not match, and the event is parsed.
 */
function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf('"', end + 1);
  return end;
}

/** The offset behind the event whose blanks and last bracket begin at `from`; -1 if there are none. */
function endOfPadding(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === BLANK) at += 1;
  const end = at + LAST_BRACKET.length;
  return text.slice(at, end) === LAST_BRACKET ? end : -1;
}

/** The offset of the blanks that end at `end`. */
function beginOfBlanks(text: string, end: number): number {
  let at = end;
  while (text.charCodeAt(at - 1) === BLANK) at -= 1;
  return at;
}

/** A text without the blanks before its tail. */
function unpadded(text: string, tail: string): string {
  if (!text.endsWith(tail)) return text;
  const close = text.length - tail.length;
  return text.slice(0, beginOfBlanks(text, close)) + tail;
}

/** The offset behind the whole number at `from`, as JSON writes one; -1 if there is none. */
function endOfNumber(text: string, from: number): number {
  let end = from;
  for (let digit = text.charCodeAt(end); digit >= DIGIT_0 && digit <= DIGIT_9; digit = text.charCodeAt(end)) end += 1;
  const isWritten = end > from && (end === from + 1 || text.charCodeAt(from) !== DIGIT_0);
  return isWritten ? end : -1;
}

/** The whole number between two offsets. Cutting it out would cost five times as much. */
function numberBetween(text: string, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at += 1) value = value * 10 + text.charCodeAt(at) - DIGIT_0;
  return value;
}

/** The first `count` chunks, up to the first whose text is not valid JSON between quotes. */
function runOf<Chunk>(
  pattern: ChunkPattern<Chunk>,
  texts: readonly (readonly string[])[],
  { count, sourceOf }: { readonly count: number; readonly sourceOf: (count: number) => RunSource | undefined },
): TextRun<Chunk> {
  // A mismatch in a second slot leaves the first slot one value too many.
  const whole = texts.map((values) => (values.length === count ? values : values.slice(0, count)));
  const [generated = '', padding = ''] = whole.map((values) => values.join(''));
  // One test for the whole run: nearly no text has escapes.
  if (!ESCAPED.test(generated) && !ESCAPED.test(padding)) {
    const source = sourceOf(count);
    return new TextRun(pattern, whole, { said: generated, bytes: Buffer.byteLength(generated), source });
  }
  const escaped: readonly string[][] = texts.map(() => []);
  let [said, bytes] = ['', 0];
  for (let index = 0; index < count; index += 1) {
    const values = whole.map((ofText) => escapedOf(ofText[index] ?? ''));
    if (values.includes(undefined)) break;
    for (const [place, value = ''] of values.entries()) escaped[place]?.push(value);
    const piece = unescaped(values[0] ?? '');
    said += piece;
    bytes += Buffer.byteLength(piece);
  }
  return new TextRun(pattern, escaped, { said, bytes, source: sourceOf(escaped[0]?.length ?? 0) });
}

/** A text from between quotes, escaped as `JSON.stringify` does it; undefined if it is not valid there. */
function escapedOf(text: string): string | undefined {
  if (!ESCAPED.test(text)) return text;
  return rewritten(`"${text}"`)?.slice(1, -1);
}

/** Returns JSON text as `JSON.stringify` writes it, or undefined if it is not valid JSON. */
function rewritten(json: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function quoted(mark: string): string {
  return `"${mark}"`;
}

/** An event with a mark, in quotes, for its number. Undefined unless it can be in one place only. */
function numberMarked(raw: string, { name, value }: NamedNumber): string | undefined {
  const label = raw.includes(`${JSON.stringify(name)}: `) ? `${JSON.stringify(name)}: ` : `${JSON.stringify(name)}:`;
  const written = label + String(value);
  const at = raw.indexOf(written);
  const behind = raw.slice(at + written.length);
  if (at === -1 || raw.includes(label, at + label.length) || !AFTER_NUMBER.test(behind)) return undefined;
  return `${raw.slice(0, at + label.length)}${quoted(NUMBER_MARK)}${behind}`;
}

/** The event with marks for its texts. Undefined unless each text can be in one place only. */
function markedOf(raw: string, texts: readonly NamedText[], marks: readonly string[]): string | undefined {
  let marked = raw;
  for (const [index, { name, text }] of texts.entries()) {
    // Some languages write a space behind the colon.
    const label = raw.includes(`${JSON.stringify(name)}: `) ? `${JSON.stringify(name)}: ` : `${JSON.stringify(name)}:`;
    const written = label + JSON.stringify(text);
    const at = marked.indexOf(written);
    if (at === -1 || at !== marked.lastIndexOf(written)) return undefined;
    marked = `${marked.slice(0, at + label.length + 1)}${marks[index]}${marked.slice(at + written.length - 1)}`;
  }
  return marked;
}
