import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fillSlots, slotsOf } from './template-slots.ts';
import { type TextTemplate, textTemplateOf } from './text-template.ts';

type Chunk = Readonly<Record<string, unknown>>;

/** Texts that need escaping, that end an event or a string, and that equal the marks of the template. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' fox', 'x', '', 'über', '東京', '\u{1F680}', '\u2028') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"', '\\', '\n\n', 'data: ', '\u0000', '"}\n\n', '~~<text>~~', '~~<padding>~~'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
);

interface Texts {
  readonly said: string;
  readonly pad: string;
}

/** A chunk around its texts: members before, between and behind them, some with the same names or values. */
interface Shape {
  readonly hasPad: boolean;
  readonly isPadFirst: boolean;
  readonly note: unknown;
}

/** This is needed because `JSON.parse` makes objects with a prototype. */
const PLAIN = { noNullPrototype: true };
const texts = fc.record({ said: text, pad: text });
const shape = fc.record({
  hasPad: fc.boolean(),
  isPadFirst: fc.boolean(),
  note: fc.oneof(
    fc.constant(null),
    text,
    fc.record({ said: text }, PLAIN),
    fc.record({ pad: text, list: fc.array(text) }, PLAIN),
  ),
});

function chunkOf({ hasPad, isPadFirst, note }: Shape, { said, pad }: Texts): Chunk {
  const padding = hasPad ? { pad } : {};
  return isPadFirst ? { ...padding, note, said } : { note, said, ...padding };
}

type Writer = (chunk: Chunk) => string;
const write: Writer = (chunk) => JSON.stringify(chunk);
const WRITERS: readonly Writer[] = [
  write,
  // As other languages write JSON: a space behind colons and commas, all characters beyond ASCII escaped.
  (chunk) => JSON.stringify(chunk, undefined, 1).replace(/\n */g, ' '),
  (chunk) =>
    JSON.stringify(chunk).replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
];

function eventOf(json: string): string {
  return `data: ${json}\n\n`;
}

function templateOf(one: Shape, first: Texts, write: Writer): TextTemplate<Chunk> | undefined {
  const data = write(chunkOf(one, first));
  const named = [{ name: 'said', text: first.said }, ...(one.hasPad ? [{ name: 'pad', text: first.pad }] : [])];
  const withTexts = ([said = '', pad = '']: readonly string[]): Chunk => chunkOf(one, { said, pad });
  return textTemplateOf({ raw: eventOf(data), data, texts: named, withTexts, chunkOf: (parsed) => parsed });
}

test('CC-01 CC-11 what a template matches equals the parsed result', (t) => {
  let matched = 0;
  const property = fc.property(
    shape,
    fc.constantFrom(...WRITERS),
    texts,
    fc.array(fc.record({ texts, isOther: fc.boolean(), cut: fc.nat(3) }), { maxLength: 8 }),
    (one, write, first, followers) => {
      const template = templateOf(one, first, write);
      if (template === undefined) return;
      const events = followers.map(({ texts: each, isOther, cut }) => {
        const event = eventOf(write(chunkOf(isOther && cut === 0 ? { ...one, note: 7 } : one, each)));
        return cut === 1 ? event.slice(0, -1) : event;
      });
      const stream = events.join('');
      const match = template.find(stream, 0);
      if (match === undefined) return;
      const consumed = stream.slice(0, match.end).split(/(?<=\n\n)/);
      const parsed = consumed.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk & { said: string });
      assert.deepEqual(match.run.chunks, parsed);
      assert.deepEqual(match.run.lastChunk, parsed.at(-1));
      const bytes = parsed.reduce((sum, { said }) => sum + Buffer.byteLength(said), 0);
      assert.equal(match.run.bytes, bytes);
      assert.equal(match.run.said, parsed.map(({ said }) => said).join(''));
      matched += parsed.length;
    },
  );
  fc.assert(property, { numRuns: 5_000 });
  t.diagnostic(`${matched} events matched`);
  assert.ok(matched > 1_000, `${matched} events matched`);
});

test('CC-01 ordinary events match until the shape changes', () => {
  const one: Shape = { hasPad: true, isPadFirst: false, note: null };
  const template = templateOf(one, { said: 'a', pad: 'p' }, write);
  const like = ['b', 'c"', 'd'].map((said) => eventOf(write(chunkOf(one, { said, pad: said }))));
  const other = eventOf(write(chunkOf({ ...one, note: 1 }, { said: 'e', pad: '' })));
  const match = template?.find(like.join('') + other, 0);
  assert.equal(match?.end, like.join('').length);
  assert.deepEqual(match?.run.texts[0], ['b', 'c\\"', 'd']);
  assert.equal(match?.run.bytes, 4);
  assert.equal(template?.find(other, 0), undefined);
});

test('CC-01 filling slots equals writing each text in its place', () => {
  const marks = ['<a>', '<b>'];
  const literal = fc.string({ maxLength: 5 }).map((one) => one.replaceAll(/[<>]/g, ''));
  fc.assert(
    fc.property(
      fc.tuple(literal, literal, literal),
      fc.boolean(),
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }),
      ([before, between, behind], isSwapped, values) => {
        const [first = '', second = ''] = isSwapped ? marks.toReversed() : marks;
        const slots =
          slotsOf(before + first + between + second + behind, marks) ?? assert.fail('the slots are certain');
        const columns = [values.map(([a]) => a), values.map(([, b]) => b)];
        const expected = values.map(([a, b]) => before + (isSwapped ? b : a) + between + (isSwapped ? a : b) + behind);
        assert.equal(fillSlots(slots, columns), expected.join(''));
      },
    ),
  );
});

test('CC-01 a missing or repeated mark has no slot', () => {
  assert.equal(slotsOf('x', ['<a>']), undefined);
  assert.equal(slotsOf('<a> <a>', ['<a>']), undefined);
  assert.deepEqual(slotsOf('x<a>y', ['<a>']), { literals: ['x', 'y'], order: [0] });
});

test('CC-01 CC-11 an uncertain text position gives no template', () => {
  // Each holds the text `a` in the member that counts, and once more where a careless search finds it.
  for (const data of [
    '{"note":{"said":"a"},"said":"a"}',
    '{"note":{"said":"a"},"said":"\\u0061"}',
    '{"said":"a","said":"\\u0061"}',
    '{"note":["said",{"said":"a"}],"said":"\\u0061"}',
  ]) {
    const chunk = JSON.parse(data) as Chunk;
    const withTexts = ([said = '']: readonly string[]): Chunk => ({ ...chunk, said });
    const texts = [{ name: 'said', text: 'a' }];
    const template = textTemplateOf({ raw: eventOf(data), data, texts, withTexts, chunkOf: (parsed) => parsed });
    assert.equal(template, undefined, data);
  }
});

const numbered = (said: string, at: number | string) => `event: said\n${eventOf(`{"n":${at},"said":"${said}"}`)}`;

function numberedTemplate(keepsSource: boolean) {
  return textTemplateOf<Chunk>({
    raw: numbered('a', 7),
    data: '{"n":7,"said":"a"}',
    texts: [{ name: 'said', text: 'a' }],
    number: { name: 'n', value: 7 },
    keepsSource,
    withTexts: ([said = ''], n) => ({ n: n ?? 7, said }),
    chunkOf: (parsed) => parsed,
  });
}

test('WI-02 a run keeps its events as they came, if their numbers are in a row', () => {
  const template = numberedTemplate(true);
  const text = numbered('b', 98) + numbered('\\u00e9', 99) + numbered('c', 100);
  assert.deepEqual(template?.find(`x${text}y`, 1)?.run.source, { text, number: 98 });
  const [broken, gap, twice] = [numbered('\\x', 99), numbered('b', 100), numbered('b', 98)];
  assert.deepEqual(template?.find(numbered('b', 98) + broken, 0)?.run.source, { text: numbered('b', 98), number: 98 });
  const others = [gap, twice].map((second) => template?.find(numbered('b', 98) + second, 0)?.run);
  assert.deepEqual(
    others.map((run) => [run?.texts, run?.source]),
    [gap, twice].map(() => [[['b', 'b']], undefined]),
  );
  assert.equal(numberedTemplate(false)?.find(text, 0)?.run.source, undefined);
});

test('CC-01 WI-02 a number that differs is passed over, if it is written as one', () => {
  const template = numberedTemplate(false);
  const match = template?.find(numbered('b', 8) + numbered('c', 12) + eventOf('{"n":13,"said":"d"}'), 0);
  assert.deepEqual(match?.run.chunks, [
    { n: 7, said: 'b' },
    { n: 7, said: 'c' },
  ]);
  assert.equal(match?.run.bytes, 2);
  for (const odd of ['', '-1', '1.5', '1e3', '07', '"8"', 'null']) {
    assert.equal(template?.find(numbered('b', odd), 0), undefined, odd);
  }
});
