import type { TemplateEvent } from '@purser/text-runs/text-template.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';
import { UNCOUNTED_FIELDS } from '#providers/answers/uncounted-fields.ts';

/** A field beside the choices: random text by which OpenAI hides how long the generated text is. */
const PADDING = 'obfuscation';
/** The texts of a delta that are counted as generated, and reach the caller. A chunk with any other field is parsed. */
const GENERATED: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);

type ChunkTexts = Pick<TemplateEvent<Chunk>, 'texts' | 'withTexts'>;

/** The texts of a chunk that holds nothing but one piece of text and maybe padding; undefined for any other chunk. */
export function textsOf(chunk: JsonObject): ChunkTexts | undefined {
  const { choices, usage, [PADDING]: padding } = chunk;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  // Usage and reasons to finish are counted by the gateway, so a chunk that has one is always parsed.
  if (!isJsonObject(choice) || isGiven(usage) || isGiven(choice['finish_reason'])) return undefined;
  const { delta } = choice;
  if (!isJsonObject(delta)) return undefined;
  const given = Object.entries(delta).filter(([name, value]) => !UNCOUNTED_FIELDS.has(name) && isGiven(value));
  const [only] = given;
  // A chunk with two generated texts, such as content beside a refusal, is parsed: a run counts one of them.
  if (given.length !== 1 || only === undefined || typeof only[1] !== 'string') return undefined;
  const [name, text] = only;
  if (!GENERATED.has(name)) return undefined;
  const withText = (other: string) => ({ ...chunk, choices: [{ ...choice, delta: { ...delta, [name]: other } }] });
  if (typeof padding !== 'string') return { texts: [{ name, text }], withTexts: ([other = '']) => withText(other) };
  return {
    texts: [
      { name, text },
      { name: PADDING, text: padding },
    ],
    withTexts: ([other = '', otherPadding = '']) => ({ ...withText(other), [PADDING]: otherPadding }),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
