import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PACKAGES } from '../../tools/structure/areas.ts';
import { RULES } from '../../tools/structure/rules.ts';
import { findingsIn, placesOf, relevantFindingsIn, SMALL } from './fixture.ts';

const AREAS = Object.keys(RULES.areas);
const pathOf = (name: string): string => {
  const [area = '', ...rest] = name.split('/');
  return PACKAGES.includes(area) ? `packages/${area}/src/${rest.join('/')}` : `packages/service/src/${name}`;
};
const specifierOf = (name: string): string =>
  PACKAGES.includes(name.split('/')[0] ?? '') ? `@purser/${name}` : `#${name}`;
const importOf = (name: string): string => `import { x } from '${specifierOf(name)}';`;
const isClean = (files: Readonly<Record<string, string>>): boolean => relevantFindingsIn(files).length === 0;

test('each folder imports exactly what its row lists', () => {
  for (const from of AREAS) {
    for (const to of AREAS) {
      const clean = isClean({ [pathOf(`${from}/a.ts`)]: importOf(`${to}/b.ts`), [pathOf(`${to}/b.ts`)]: '' });
      assert.equal(clean, from === to || RULES.areas[from]?.includes(to), `${from} -> ${to}`);
    }
  }
});

test('a row that names a later row is a finding', () => {
  const areas = { kernel: ['cli'], cli: ['kernel'] };
  assert.deepEqual(placesOf(findingsIn({}, { ...SMALL, areas })), ['folder-imports tools/structure/areas.ts:1']);
  const rooms = { gateway: { usage: ['call'], call: [] } };
  assert.deepEqual(placesOf(findingsIn({}, { ...SMALL, rooms })), ['room-imports tools/structure/rooms.ts:1']);
});

test('each room imports exactly what its row lists', () => {
  for (const [area, rooms] of Object.entries(RULES.rooms)) {
    for (const [from, allowed] of Object.entries(rooms)) {
      for (const to of Object.keys(rooms)) {
        const target = `${area}/${to}/b.ts`;
        const clean = isClean({ [`${area}/${from}/a.ts`]: importOf(target), [target]: '' });
        assert.equal(clean, from === to || allowed.includes(to), `${area}: ${from} -> ${to}`);
        assert.ok(isClean({ [`${area}/${from}/a.test.ts`]: importOf(target), [target]: '' }));
      }
      assert.ok(!isClean({ [`${area}/${from}/a.ts`]: importOf(`${area}/top.ts`), [`${area}/top.ts`]: '' }));
      assert.ok(isClean({ [`${area}/top.ts`]: importOf(`${area}/${from}/a.ts`), [`${area}/${from}/a.ts`]: '' }));
    }
  }
});

test('exempt files may make only that import', () => {
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
      const found = relevantFindingsIn({ [file]: importOf(to), [pathOf(to)]: '' }, { ...SMALL, rooms: {} });
      assert.equal(found.length === 0, expected, `${file} -> ${to}`);
    }
  }
});
