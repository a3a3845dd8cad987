import { patternOf, TextRun } from '@purser/text-runs/text-run.ts';
import { type TextTemplate, textTemplateOf } from '@purser/text-runs/text-template.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';

/** The event that most events of a stream are. A run of it is read without parsing. */
const TEXT_DELTA = 'response.output_text.delta';
/** A field beside the text: random text by which OpenAI hides how long the text is. */
const PADDING = 'obfuscation';
const NUMBER = 'sequence_number';
/** Templates tried for one stream. If none of them helps, its events differ in more than their text. */
const TEMPLATES_MAX = 8;

/** Events in a row that equal an earlier one but for their texts and numbers. */
interface EventRun {
  readonly run: TextRun<Chunk>;
  /** One event that says all that they say. */
  readonly event: JsonObject;
  readonly end: number;
}

interface EventRuns {
  readonly find: (text: string, at: number) => EventRun | undefined;
  /** Makes a template of an event that was parsed, if it says nothing but a text. `isAsItCame`: callers may get its own text. */
  readonly learn: (event: JsonObject, raw: string, data: string, isAsItCame: boolean) => void;
}

interface Learned {
  readonly event: JsonObject;
  readonly template: TextTemplate<Chunk>;
  /** The pattern of callers who get chunks, and no padding. */
  readonly ofText: TextRun<Chunk>['pattern'];
}

/** `chunkOf`: the chunk of an event of text, behind the first of its stream. */
export function createEventRuns(isNative: boolean, chunkOf: (event: JsonObject) => Chunk): EventRuns {
  let learned: Learned | undefined;
  let tried = 0;
  return {
    find: (text, at) => {
      const found = learned?.template.find(text, at);
      if (learned === undefined || found === undefined) return undefined;
      const { event, ofText } = learned;
      const [texts = []] = found.run.texts;
      const run = isNative ? found.run : new TextRun(ofText, [texts], found.run);
      return { run, event: { ...event, delta: found.run.said }, end: found.end };
    },
    learn: (event, raw, data, isAsItCame) => {
      if (tried >= TEMPLATES_MAX || !saysTextAlone(event)) return;
      const withTexts = withTextsOf(event);
      const template = textTemplateOf({
        raw,
        data,
        ...textsOf(event),
        keepsSource: isAsItCame && event[NUMBER] !== undefined,
        withTexts,
        chunkOf,
      });
      if (template === undefined) return;
      tried += 1;
      learned = {
        event,
        template,
        ofText: patternOf(1, ([said = '']) => chunkOf({ ...event, delta: said })),
      };
    },
  };
}

/** Probabilities of tokens are parsed, because they differ from event to event. */
function saysTextAlone({ type, delta, logprobs }: JsonObject): boolean {
  const hasTokens = Array.isArray(logprobs) && logprobs.length > 0;
  return type === TEXT_DELTA && typeof delta === 'string' && !hasTokens;
}

function textsOf({ delta, [PADDING]: padding, [NUMBER]: number }: JsonObject) {
  const padded = typeof padding === 'string' ? [{ name: PADDING, text: padding }] : [];
  return {
    texts: [{ name: 'delta', text: String(delta) }, ...padded],
    number: Number.isSafeInteger(number) && Number(number) >= 0 ? { name: NUMBER, value: Number(number) } : undefined,
  };
}

/** The event with other texts, in the order of its template. */
function withTextsOf(event: JsonObject): (texts: readonly string[], number?: string) => JsonObject {
  const names = textsOf(event).texts.map(({ name }) => name);
  return (values, number) => ({
    ...event,
    ...Object.fromEntries(names.map((name, place) => [name, values[place] ?? ''])),
    ...(number !== undefined && { [NUMBER]: number }),
  });
}
