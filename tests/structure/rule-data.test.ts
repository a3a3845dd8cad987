import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES } from '../../tools/structure/rules.ts';
import { findingsIn, placesOf, relevantFindingsIn, SMALL } from './fixture.ts';

const AREAS = Object.keys(RULES.areas);
const PACKAGES = ['contract', 'simulator'];
const pathOf = (name: string): string => {
  const [area = '', ...rest] = name.split('/');
  return PACKAGES.includes(area) ? `packages/${area}/src/${rest.join('/')}` : `packages/service/src/${name}`;
};
const specifierOf = (name: string): string =>
  PACKAGES.includes(name.split('/')[0] ?? '') ? `@purser/${name}` : `#${name}`;
const importOf = (name: string): string => `import { x } from '${specifierOf(name)}';`;
const isClean = (files: Readonly<Record<string, string>>): boolean => relevantFindingsIn(files).length === 0;

test('each folder may import exactly what its row in the table lists', () => {
  for (const from of AREAS) {
    for (const to of AREAS) {
      const clean = isClean({ [pathOf(`${from}/a.ts`)]: importOf(`${to}/b.ts`), [pathOf(`${to}/b.ts`)]: '' });
      assert.equal(clean, from === to || RULES.areas[from]?.includes(to), `${from} -> ${to}`);
    }
  }
});

test('a table that allows a cycle is a finding', () => {
  const rules = { ...SMALL, areas: { ...RULES.areas, kernel: ['cli'] } };
  assert.deepEqual(placesOf(findingsIn({}, rules)), ['folder-imports tools/structure/rules.ts:1']);
});

test('the files that the table lets through do so for that one import only', () => {
  assert.ok(isClean({ 'kernel/refusal.ts': importOf('contract/errors.ts'), [pathOf('contract/errors.ts')]: '' }));
  assert.ok(!isClean({ 'kernel/refusal.ts': importOf('contract/chat.ts'), [pathOf('contract/chat.ts')]: '' }));
  assert.ok(!isClean({ 'kernel/other.ts': importOf('contract/errors.ts'), [pathOf('contract/errors.ts')]: '' }));
});

test('each rule for one file holds, in both directions', () => {
  for (const { file, only, never } of RULES.fileImports) {
    const area = file.split('/')[0] ?? '';
    const targets = [...AREAS.map((name) => `${name}/b.ts`), ...RULES.fileImports.map((rule) => rule.file)];
    for (const to of new Set(targets)) {
      if (to === file) continue;
      const toArea = to.split('/')[0] ?? '';
      const isNamed = (places: readonly string[]): boolean => places.includes(to) || places.includes(toArea);
      const isInTable = toArea === area || RULES.areas[area]?.includes(toArea) === true;
      const expected = isInTable && !isNamed(never ?? []) && isNamed(only ?? [toArea]);
      assert.equal(isClean({ [file]: importOf(to), [pathOf(to)]: '' }), expected, `${file} -> ${to}`);
    }
  }
});

test('each package is imported only where it is listed', () => {
  for (const [module, users] of Object.entries(RULES.modules)) {
    for (const area of AREAS) {
      const listed = users.filter(({ user }) => user === area);
      const text = (type: string): string => `import ${type}{ x } from '${module}';`;
      const value = isClean({ [pathOf(`${area}/a.ts`)]: text('') });
      const type = isClean({ [pathOf(`${area}/a.ts`)]: text('type ') });
      assert.equal(
        value,
        listed.some(({ isTypeOnly }) => isTypeOnly !== true),
        `${area} -> ${module}`,
      );
      assert.equal(type, listed.length > 0, `${area} -> types of ${module}`);
    }
  }
  assert.ok(isClean({ 'kernel/log.ts': "import { pino, type Logger } from 'pino';" }));
  assert.ok(isClean({ 'kernel/a.ts': "import { join } from 'node:path';" }));
});

test('each restricted piece of code is found everywhere but where it is allowed', () => {
  const places = [...AREAS.map((area) => pathOf(`${area}/a.ts`)), 'tools/a.ts', 'tests/a.ts', pathOf('db/a.test.ts')];
  for (const { code, allowed } of RULES.restrictedCode) {
    const pattern = code.replace(/^\^/, '').replace('WORD', 'Colour').replace('env ]', "'env' ]");
    const written = pattern
      .replace(/\($/, '()')
      .replace(/^env }/, '({ env }')
      .replace(/process$/, 'process)');
    for (const path of places) {
      const isAllowed = allowed.some((place) => path.includes(`/${place}/`) || path.startsWith(`${place}/`));
      const expected = isAllowed || (path.endsWith('.test.ts') && allowed.includes('tests'));
      const found = relevantFindingsIn({ [path]: `\n  ${written}` }).map(({ rule, line }) => `${rule}:${line}`);
      assert.deepEqual(found, expected ? [] : ['restricted-code:2'], `\`${code}\` in ${path}`);
    }
    const files = allowed.filter((place) => place.endsWith('.ts'));
    for (const file of files) assert.ok(isClean({ [file]: written }), `\`${code}\` in ${file}`);
  }
});

test('code that only looks restricted passes', () => {
  const harmless = [
    'const rows = await client.fetch(url);',
    'const name = "process.env"; const other = `Date.now()`; // process.env, Math.random()',
    'const schema = z.enum(["a"]); const json = { enum: ["a"] };',
    'const yes = x ? y : z.any();',
    'type Company = string; const value: Company = company as Company;',
    'const date = Date.parse(text); const least = Math.min(1, 2);',
  ];
  for (const text of harmless) assert.ok(isClean({ 'kernel/a.ts': text }), text);
});

test('a property read by an optional chain is found too', () => {
  const found = relevantFindingsIn({ 'kernel/a.ts': 'const now = globalThis?.process?.env;' });
  assert.deepEqual(placesOf(found), ['restricted-code kernel/a.ts:1']);
});
