import fc from 'fast-check';
import { anyEmbeddingsBody } from '../../support/any-embeddings-body.ts';
import type { Random } from '../histories/random.ts';
import { anyRequest } from '../../support/any-request.ts';
import { anyMessagesBody } from '../../support/any-messages-body.ts';
import { anyResponsesBody } from '../../support/any-responses-body.ts';
import { COMPLETIONS } from '../../support/client.ts';

const LIMIT = 1_048_576;

/** A replacement for a field, as JSON text: it may be a number that JavaScript cannot hold, or not be JSON at all. */
const ODD_VALUES: readonly string[] = [
  ['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e400', '-1e400', '1e-400', '9007199254740993', '1E+2', '0.1e1'],
  ['12345678901234567890', '00', '+1', '.5', '1.', 'NaN', 'Infinity', 'undefined', '0x10', "'a'", '', ','],
  ['""', '"1"', '"auto"', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\uD83D\\uDE00"', '"__proto__"', '"\\x"'],
  ['"a\nb"', '"\t"', '"\\/\\b\\f"', '"\u2028\ufeff\u202e"', '"${jndi:ldap://x}"', '"%s%n"', '"\'; drop table x; --"'],
  ['[]', '{}', '[[]]', '[null]', '[{}]', '{"":{}}', '{"__proto__":{"isAdmin":true}}', '{"type":"function"}'],
  [
    '{"constructor":{"prototype":{"isAdmin":true}}}',
    '{"toString":1,"valueOf":2,"toJSON":3,"then":4}',
    '{"length":1e9}',
  ],
].flat();

const ODD_NAMES: readonly string[] = [
  ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'length', '', ' ', '0'],
  ['input', 'prompt', 'functions', 'audio', 'n ', 'N', 'model\\u0000', 'mod\\u0065l', 'messages', 'stream', 'store'],
  ['temperature', 'stream_options', 'max_tokens', 'metadata', 'user', 'tools', 'image_url', 'content', 'role', 'type'],
].flat();

/** Where bodies are sent, and what they are when nothing is wrong with them. */
export const TARGETS: readonly Target[] = [
  { target: COMPLETIONS, any: anyRequest },
  { target: COMPLETIONS, any: anyRequest },
  { target: '/v1/responses', any: anyResponsesBody },
  { target: '/v1/messages', any: anyMessagesBody },
  { target: '/v1/messages/count_tokens', any: anyMessagesBody },
  { target: '/v1/embeddings', any: anyEmbeddingsBody, model: 'vectors' },
];

interface Target {
  readonly target: string;
  readonly any: fc.Arbitrary<object>;
  readonly model?: string;
}

/** A call by some wire, with its address. */
export function hostileCall(random: Random): { readonly target: string; readonly body: Buffer } {
  const { target, any, model } = random.pick(TARGETS);
  return { target, body: hostileBody(random, any, model) };
}

/** A request, as JSON text or something close to it. Most have only one or two faults. */
export function hostileBody(random: Random, any: fc.Arbitrary<object> = anyRequest, model = 'large'): Buffer {
  const base = fc.sample(any, { numRuns: 1, seed: random.whole(0, 2 ** 31 - 1) })[0];
  let root: unknown = {
    model: random.chance(0.93) ? model : random.pick(['secret', 'acme.large-1', 'off', 'nothing', 'vectors', '']),
    ...base,
  };
  const holes: string[] = [];
  for (let count = random.pick([0, 0, 1, 1, 1, 2, 4]); count > 0; count -= 1) root = mutate(random, root, holes);
  // A hole is a text that occurs nowhere else. It stands for a value that JavaScript may not be able to hold.
  const text = JSON.stringify(root).replaceAll(
    /"hole-(\d+)-(?:value|name)"/g,
    (_, index: string) => holes[Number(index)] ?? '',
  );
  return random.chance(0.75) ? Buffer.from(text) : spoilBytes(random, text);
}

function mutate(random: Random, root: unknown, holes: string[]): unknown {
  const places = placesOf(root, []);
  if (places.length === 0) return root;
  const place = random.pick(places);
  const hole = (kind: 'value' | 'name', text: string): string => `hole-${holes.push(text) - 1}-${kind}`;
  const oddName = (): string => hole('name', `"${random.pick(ODD_NAMES)}"`);
  const act = random.pick([
    'replace',
    'replace',
    'replace',
    'delete',
    'add',
    'add',
    'rename',
    'wrap',
    'deepen',
    'swell',
  ] as const);
  return edited(root, place, (entries, index) => {
    const [name, value] = entries[index] ?? ['', undefined];
    const before = entries.slice(0, index);
    const after = entries.slice(index + 1);
    switch (act) {
      case 'replace':
        return [...before, [name, hole('value', random.pick(ODD_VALUES))], ...after];
      case 'delete':
        return [...before, ...after];
      case 'add':
        return [...entries, [oddName(), hole('value', random.pick(ODD_VALUES))]];
      case 'rename':
        return [...before, [oddName(), value], ...after];
      case 'wrap':
        return [...before, [name, [value]], ...after];
      case 'deepen':
        return [...before, [name, hole('value', nested(random))], ...after];
      case 'swell':
        return [...before, [name, hole('value', swollen(random))], ...after];
    }
  });
}

type Place = readonly string[];

/** The path of every value below the root. */
function placesOf(value: unknown, path: Place): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...path, name], ...placesOf(inner, [...path, name])]);
}

type Entries = readonly (readonly [string, unknown])[];

/** The same tree, with the object or array that contains the place rebuilt. */
function edited(tree: unknown, [name, ...rest]: Place, edit: (entries: Entries, index: number) => Entries): unknown {
  const entries = Object.entries(tree as object);
  const index = entries.findIndex(([one]) => one === name);
  const written: Entries =
    rest.length === 0
      ? edit(entries, index)
      : entries.map(([one, value]) => [one, one === name ? edited(value, rest, edit) : value] as const);
  return Array.isArray(tree) ? written.map(([, value]) => value) : Object.fromEntries(written);
}

function nested(random: Random): string {
  const levels = random.pick([1, 25, 28, 29, 30, 31, 32, 33, 1_000, 100_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ] as const);
  const closings = random.chance(0.8) ? levels : levels - 1; // Sometimes left unclosed.
  return `${open.repeat(levels)}null${close.repeat(closings)}`;
}

function swollen(random: Random): string {
  const length = random.pick([257, 4_096, 65_536, 65_537]);
  const unit = random.pick(['a', ' ', '\\n', '\\u0000', '"\\"'.slice(1), 'é', '漢', '\ud83d\ude00', '{', '[', '\\\\']);
  return `"${unit.repeat(length)}"`;
}

/** What a broken client makes of a text, or text from no client at all. */
function spoilBytes(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  const at = random.whole(0, bytes.length);
  const insert = (part: Buffer): Buffer => Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
  switch (random.whole(0, 9)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return insert(Buffer.from([random.whole(0, 255)]));
    case 2: // Overlong, surrogates, beyond Unicode, a lone continuation byte, a truncated character.
      return insert(Buffer.from(random.pick(['c080', 'eda080', 'f4908080', '80', 'e282', 'ff', 'fe', 'c0af']), 'hex'));
    case 3:
      return Buffer.concat([Buffer.from('efbbbf', 'hex'), bytes]);
    case 4:
      return Buffer.from(text, 'utf16le');
    case 5:
      return Buffer.concat([bytes, Buffer.from(random.pick(['x', '{}', '\0', ']', '}', '\r\n\r\n', ',']))]);
    case 6: // The same member twice: the later one counts, for us and for the provider.
      return Buffer.from(text.replace('{', `{"model":"large","model":${random.pick(['1', '"large"', 'null'])},`));
    case 7:
      return Buffer.from(text.padEnd(random.pick([LIMIT - 1, LIMIT, LIMIT + 1]), ' '));
    case 8:
      return Buffer.from(
        random.pick(['', ' ', 'null', '[]', '"a"', '7', '{', '}', '{}', '[', '{"a"', '\0', '/**/{}', '-']),
      );
    default:
      return Buffer.from(Array.from({ length: random.whole(1, 400) }, () => random.whole(0, 255)));
  }
}
