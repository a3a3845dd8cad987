import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkProse, checkTestNames } from '../../tools/prose/check-prose.ts';
import { PROSE } from '../../tools/prose/rules.ts';

function placesIn(files: Readonly<Record<string, string>>): readonly string[] {
  return checkProse(new Map(Object.entries(files)), PROSE).map(({ file, line }) => `${file}:${line}`);
}

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

test('a banned word is found in all kinds of text', () => {
  assert.deepEqual(placesIn({ 'docs/a.md': '# Title\n\nAnna pays\nwhatever it costs.' }), ['docs/a.md:4']);
  assert.deepEqual(placesIn({ 'tools/a.ts': 'a();\n/**\n * Anna pays\n * whatever it costs.\n */\n' }), [
    'tools/a.ts:4',
  ]);
  assert.deepEqual(placesIn({ 'tools/a.ts': '// Anna is\n// told of it.\n' }), ['tools/a.ts:1']);
  assert.deepEqual(placesIn({ 'tools/a.ts': "\nsay('Anna pays whatever it costs.');" }), ['tools/a.ts:2']);
  assert.deepEqual(placesIn({ 'tools/a.ts': 'say(`Anna pays whatever ${it} costs.`);' }), ['tools/a.ts:1']);
  assert.deepEqual(placesIn({ 'db/a.sql': 'select 1\n  -- Anna pays whatever it costs.\nfrom a;' }), ['db/a.sql:2']);
});

test('each banned word of the table is found', () => {
  const samples = [
    'his',
    'Whoever',
    'wherefrom',
    'make-believe',
    'was told of',
    'Only then',
    'stray',
    'MoreText',
    'oddness',
  ];
  assert.equal(samples.length, PROSE.banned.length);
  for (const [index, sample] of samples.entries()) {
    assert.match(sample, PROSE.banned[index]?.pattern ?? /^$/);
    assert.deepEqual(placesIn({ 'docs/a.md': `Anna says ${sample} it is.` }), ['docs/a.md:1'], sample);
  }
});

test('code, names and words that only look alike pass', () => {
  const passing = {
    'docs/a.md': 'Anna sets `whatever`.\n\n```\nwhatever\n```\n\nThis history is the chip of their hero.\n',
    'tools/a.ts': "const whatever = strays['whatever'];\n// It is in `strays.ts`.\n",
    'tools/a.json': '{ "whatever": 1 }',
  };
  assert.deepEqual(placesIn(passing), []);
});

test('a sentence of 41 words is found in Markdown only', () => {
  assert.deepEqual(placesIn({ 'docs/a.md': `Anna. ${words(40)}. ${words(40)}` }), []);
  assert.deepEqual(placesIn({ 'docs/a.md': `Anna.\n${words(20)}\n${words(21)}. ${words(3)}.` }), ['docs/a.md:2']);
  assert.deepEqual(placesIn({ 'docs/a.md': `- ${words(30)}\n- ${words(30)}\n\n${words(30)}` }), []);
  assert.deepEqual(placesIn({ 'docs/a.md': `| ${words(60)} |\n` }), []);
  assert.deepEqual(placesIn({ 'docs/a.md': `See \`${words(60)}\`.` }), []);
  assert.deepEqual(placesIn({ 'tools/a.ts': `// ${words(60)}` }), []);
});

test('a doc comment that is no sentence is found, and one that only points elsewhere', () => {
  for (const text of [
    '/** the sum. */',
    '/** The sum */',
    '/**\n * The sum\n * of all */',
    '/** See `sum`. */',
    '// See sum.ts.',
  ])
    assert.deepEqual(placesIn({ 'tools/a.ts': `a();\n${text}` }), ['tools/a.ts:2'], text);
  const passing = ['/** The sum. */', '/** `sum` is it. */', '/**\n * Adds.\n *\n *     sum(1)\n * @public\n */'];
  for (const text of [
    ...passing,
    '// the sum',
    '// See sum.ts. It adds.',
    "const glob = '/** no';",
    '/** A. */ // the sum',
  ])
    assert.deepEqual(placesIn({ 'tools/a.ts': text }), [], text);
});

test('a test name of more than 15 words after its clause ids is found', () => {
  const passing = [`'WA-07 CC-01 ${words(15)}'`, `\`WA-07 \${a ? 1 : 2} ${words(14)}\``];
  const text = [...passing, `"WA-07 ${words(16)}"`].map((name) => `test(${name}, run);\n`).join('');
  assert.deepEqual(
    checkTestNames(new Map([['a.test.ts', text]]), PROSE).map(({ line }) => line),
    [3],
  );
});

test('a test name without a clause id is found where promises are kept', () => {
  const text = "test('WA-07 a', run);\ntest(`${clause} a`, run);\ntest('a', run);\n";
  const files = ['packages/service/src/a.test.ts', 'tests/integration/a.test.ts', 'tests/support/a.test.ts'];
  assert.deepEqual(
    checkTestNames(new Map(files.map((file) => [file, text])), PROSE).map(({ file, line }) => `${file}:${line}`),
    ['packages/service/src/a.test.ts:3', 'tests/integration/a.test.ts:3'],
  );
});
