import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { MoreText } from '#providers/provider.ts';

/**
 * The bytes of a chunk around the text of its only delta. Most chunks of a stream differ in that text alone, and one that
 * does is known without being parsed.
 */
export interface TextTemplate {
  /** The chunk that begins at `at`, whole and like this one but for its text; undefined where another one does. */
  readonly find: (text: string, at: number) => { readonly chunk: MoreText; readonly end: number } | undefined;
}

/** Fields of a delta that say nothing, and cost nothing (`generatedBytesOf`). */
const LABELS = new Set(['role', 'id', 'type']);
/** What JSON writes otherwise than it reads, or not at all: a text with any of it is parsed. */
const ESCAPED = /[\\\p{Cc}]/u;
/** Stand for any text: if the chunk with another text is the chunk but for that, then so it is with every text. */
const ANY = 'x';
const ANY_OTHER = 'y';

/** The template of a chunk that came as `raw`, an event whose data is `data`; undefined where its text cannot be told. */
export function textTemplateOf(chunk: JsonObject, data: string, raw: string): TextTemplate | undefined {
  const slot = slotOf(chunk);
  if (slot === undefined || raw !== `data: ${data}\n\n`) return undefined;
  const { name, text, withText } = slot;
  const around = aroundOf(raw, name, text);
  if (around === undefined) return undefined;
  const { before, after } = around;
  const any = text === ANY ? ANY_OTHER : ANY; // With its own text the chunk is itself, wherever that was found.
  const other = parseJson((before + any + after).slice('data: '.length));
  if (JSON.stringify(other) !== JSON.stringify(withText(any))) return undefined;
  return {
    find: (read, at) => {
      const start = at + before.length;
      if (read.slice(at, start) !== before) return undefined; // Four times as fast as `startsWith`.
      const quote = read.indexOf('"', start);
      if (quote === -1 || read.slice(quote, quote + after.length) !== after) return undefined;
      const found = read.slice(start, quote);
      if (ESCAPED.test(found)) return undefined;
      return { chunk: new MoreText(chunk, found, withText), end: quote + after.length };
    },
  };
}

interface Slot {
  readonly name: string;
  readonly text: string;
  readonly withText: (text: string) => JsonObject;
}

/** Where the one text of a chunk lies that does nothing but go on. */
function slotOf(chunk: JsonObject): Slot | undefined {
  const { choices, usage } = chunk;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isJsonObject(choice) || isGiven(usage)) return undefined;
  const { delta } = choice;
  if (!isJsonObject(delta)) return undefined;
  const said = Object.entries(delta).filter(([name, value]) => !LABELS.has(name) && isGiven(value));
  const [only] = said;
  if (said.length !== 1 || only === undefined || typeof only[1] !== 'string') return undefined;
  const [name, text] = only;
  const withText = (other: string) => ({ ...chunk, choices: [{ ...choice, delta: { ...delta, [name]: other } }] });
  return { name, text, withText };
}

/** The text before and behind what is said, quotes included, where there is but one place that it can be in. */
function aroundOf(raw: string, name: string, text: string): { before: string; after: string } | undefined {
  const label = raw.includes(`${JSON.stringify(name)}: `) ? `${JSON.stringify(name)}: ` : `${JSON.stringify(name)}:`;
  const said = label + JSON.stringify(text);
  const at = raw.indexOf(said);
  if (at === -1 || at !== raw.lastIndexOf(said)) return undefined;
  return { before: raw.slice(0, at + label.length + 1), after: raw.slice(at + said.length - 1) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
