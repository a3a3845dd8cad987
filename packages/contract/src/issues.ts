import type { z } from 'zod';

/**
 * What is wrong with a value, in our words instead of the library's. Pass `issueWords` to every parse of what a person or an
 * app has sent. A schema may say it better by an `error` of its own; then that one counts.
 */

type RawIssue = z.core.$ZodRawIssue;

const SHOWN_CHARACTERS_MAX = 64;
const LISTED_MAX = 20;
/** Fields whose values no message may repeat, not even to their sender: messages end in logs and tickets. */
const SECRET = /password|token|secret|apikey|code|image|^(headers|query|extraBody)$/i;

/** Says what is accepted, to follow the name of the field: `must be text`. */
export function issueWords(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue.input, issue.expected);
    case 'too_small':
      return boundWords('at least', issue.minimum, issue.origin);
    case 'too_big':
      return boundWords('at most', issue.maximum, issue.origin);
    case 'invalid_format':
      return formatWords(issue.format);
    case 'invalid_value':
      return `must be ${listed(issue.values.map(String), 'or')}`;
    case 'unrecognized_keys':
      return unknownWords(issue);
    case 'invalid_union':
      return unionWords(issue);
    case 'invalid_key':
      return 'has a name that is not accepted here: letters, digits and `.`, `_`, `:`, `/`, `-` are';
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
    default:
      return 'is not accepted';
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number from -(2^53 - 1) to 2^53 - 1',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: '`null`',
};

function typeWords(input: unknown, expected: string): string {
  const accepted = TYPES[expected] ?? 'of another type';
  return input === undefined ? `is required and must be ${accepted}` : `must be ${accepted}`;
}

function boundWords(bound: 'at least' | 'at most', figure: number | bigint, origin: string): string {
  if (origin === 'string') return `must have ${bound} ${counted(Number(figure), 'character')}`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${counted(Number(figure), 'value')}`;
  return `must be ${bound} ${figure}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  url: 'must be an address that begins with `https://` or `http://`',
  uuid: 'must be a UUID',
  date: 'must be a day, such as `2026-11-30`',
  datetime: 'must be a moment in UTC, such as `2026-11-30T12:00:00Z`',
};

function formatWords(format: string): string {
  return FORMATS[format] ?? 'contains characters that are not accepted here, or has another form';
}

function unknownWords({ inst }: RawIssue): string {
  const def = (inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def;
  const names = Object.keys(def?.shape ?? {});
  return names.length === 0 ? 'is not accepted here' : `is not accepted here. Accepted: ${listed(names, 'and')}`;
}

/** A union of objects that one field tells apart. */
function unionWords(issue: RawIssue): string {
  const { discriminator, inst } = issue as { readonly discriminator?: string; readonly inst?: unknown };
  const values = (inst as { _zod?: { propValues?: Record<string, Set<unknown>> } } | undefined)?._zod?.propValues;
  const kinds = discriminator === undefined ? undefined : values?.[discriminator];
  return kinds === undefined ? 'has none of the accepted forms' : `must be ${listed([...kinds].map(String), 'or')}`;
}

function listed(words: readonly string[], joint: 'and' | 'or'): string {
  const shown = words.slice(0, LISTED_MAX).map((word) => `\`${word}\``);
  if (words.length > LISTED_MAX) return `${shown.join(', ')} ${joint} others`;
  return [shown.slice(0, -1).join(', '), shown.at(-1)].filter((part) => part !== '').join(` ${joint} `);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

interface Explained {
  /** The steps from the body to the field at fault. An unknown field is named itself, not the object that it is in. */
  readonly steps: readonly (string | number)[];
  /** What is accepted, and what was sent. Whole sentences, to follow the name of the field. */
  readonly words: string;
}

/** Explains one issue of a parse with `issueWords` and `reportInput`. */
export function explainIssue(issue: z.core.$ZodIssue): Explained {
  const own = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  const steps = issue.code === 'unrecognized_keys' ? [...own, ...issue.keys.slice(0, 1)] : own;
  const sent = sentWords(issue, steps);
  return { steps, words: `${issue.message}.${sent === undefined ? '' : ` ${sent}.`}` };
}

/** What was sent, unless it is missing, secret, unknown, or the words say it already. */
function sentWords(issue: z.core.$ZodIssue, steps: Explained['steps']): string | undefined {
  const { input, code } = issue;
  if (code === 'unrecognized_keys' || code === 'invalid_key' || code === 'invalid_union') return undefined;
  const isText = typeof input === 'string';
  if ((code === 'too_small' || code === 'too_big') && isText) return `You sent ${counted(input.length, 'character')}`;
  if (steps.some((step) => SECRET.test(String(step)))) return undefined;
  if (Array.isArray(input)) return `You sent a list of ${counted(input.length, 'value')}`;
  if (isText || typeof input === 'number' || typeof input === 'boolean' || input === null)
    return `You sent ${shown(input)}`;
  return typeof input === 'object' && code === 'invalid_type' ? 'You sent an object' : undefined;
}

/** A value in the form in which a message may repeat it: short, and on one line of a terminal or a log. */
function shown(value: string | number | boolean | null): string {
  if (value === '') return 'an empty text';
  const text = String(value);
  const part = text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}...`;
  return `\`${part.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029`]/gu, '\ufffd')}\``;
}
