import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { after, test } from 'node:test';
import { CONFIG } from '../../../tools/lint/config.ts';
import { MODULES, TYPES_OF } from '../../../tools/lint/modules.ts';
import { PLACES } from '../../../tools/lint/places.ts';
import { RESTRICTED } from '../../../tools/lint/restricted.ts';
import { ALLOWED_IMPORTS, AREAS, FILE_IMPORTS, PACKAGES } from '../../../tools/structure/areas.ts';
import { ROOMS } from '../../../tools/structure/rooms.ts';
import { tableOf } from '../../../tools/structure/table.ts';
import { ROOT, runNode } from '../../../tools/toolchain.ts';

const SERVICE = 'packages/service/src/';
const lines = (count: number, line: string): string => `${line}\n`.repeat(count);
const longBody = lines(69, '  step();');

/** A finding as `rule path:line`, and the text of that file. Other rules may find more in it. */
const BROKEN: readonly (readonly [finds: string, text: string])[] = [
  ['max-lines tests/long.ts:301', lines(301, 'step();')],
  ['max-lines-per-function tools/declared.ts:2', `\nexport function long(): void {\n${longBody}}\n`],
  [
    'max-lines-per-function tools/assigned.ts:2',
    `\nexport const long = async (a: A): Promise<B> => {\n${longBody}};\n`,
  ],
  ['max-lines-per-function tools/called.ts:1', `step(() => {\n${longBody}});\n`],
  ['no-cycle tools/cycle-a.ts:2', "\nimport { b } from './cycle-b.ts';\nexport const a = b;\n"],
  ['no-cycle tools/cycle-b.ts:1', "import type { C } from './cycle-c.ts';\nexport const b: C = step();\n"],
  ['no-cycle tools/cycle-c.ts:1', "import { a } from './cycle-a.ts';\nexport type C = typeof a;\n"],
  [`no-cycle ${SERVICE}kernel/round-a.ts:1`, "import { b } from '#kernel/round-b.ts';\nexport const a = b;\n"],
  [
    `no-cycle ${SERVICE}kernel/round-b.ts:1`,
    "import { a } from '@purser/service/src/kernel/round-a.ts';\nexport const b = a;\n",
  ],
  ['no-cycle tools/own.ts:1', "import './own.ts';\n"],
  [`no-barrel-file ${SERVICE}kernel/barrel.ts:1`, "export * from './leaf.ts';\n"],
  [`filename-case ${SERVICE}kernel/placeHold.ts:1`, '\n'],
  ['filename-case tools/place_hold.ts:1', '\n'],
  ['ban-ts-comment tools/ignored.ts:1', '// @ts-ignore\nstep();\n'],
  [`no-warning-comments ${SERVICE}kernel/later.ts:1`, '// The rest is a TODO.\n'],
  ['no-warning-comments tools/later.ts:1', '/* fixme */\n'],
  ['no-explicit-any tests/any.ts:1', 'export const a: any = step();\n'],
  ['no-unused-vars tools/unused.ts:1', 'const a = step();\n'],
  ['eqeqeq tools/equal.ts:1', 'export const a = step() == b;\n'],
  ['no-non-null-assertion tools/not-null.ts:1', 'export const a = (step() as string | undefined)!;\n'],
  ['no-floating-promises tools/floating.ts:1', 'Promise.resolve(1);\n'],
  ['no-misused-promises tools/misused.ts:1', 'if (Promise.resolve(true)) step();\n'],
  ['await-thenable tools/await.ts:1', 'export const a = await 1;\n'],
  [
    'switch-exhaustiveness-check tools/switch.ts:2',
    "export function a(b: 'c' | 'd'): number {\n  switch (b) {\n    case 'c':\n      return 1;\n  }\n  return 2;\n}\n",
  ],

  [`no-restricted-imports ${SERVICE}ledger/a.ts:1`, "import pg from 'pg';\nexport const a = pg;\n"],
  [`no-restricted-imports ${SERVICE}ledger/b.ts:1`, "export const a = await import('pg');\n"],
  [`no-restricted-imports ${SERVICE}ledger/c.ts:1`, "export { a } from 'left-pad';\n"],
  [`no-restricted-imports ${SERVICE}ledger/d.ts:1`, "import { a } from 'stripe/lib/a';\nexport const b = a;\n"],
  [`no-restricted-imports ${SERVICE}kernel/a.ts:1`, "import { env } from 'node:process';\nexport const a = env;\n"],
  [`no-restricted-imports ${SERVICE}kernel/d.ts:1`, "import { z } from 'zod';\nexport const a = z;\n"],
  [`no-restricted-imports ${SERVICE}http/a.ts:1`, "import { pino } from 'pino';\nexport const a = pino;\n"],
  ['no-restricted-imports packages/simulator/src/a.ts:1', "import { z } from 'zod';\nexport const a = z;\n"],
  ['no-restricted-imports benchmarks/a.ts:1', "import pg from 'pg';\nexport const a = pg;\n"],
  [`no-restricted-imports ${SERVICE}kernel/f.ts:2`, "\nimport { b } from '#db/b.ts';\nexport const a = b;\n"],
  [`no-restricted-imports ${SERVICE}kernel/g.ts:1`, "import type { B } from '../db/b.ts';\nexport type A = B;\n"],
  [`no-restricted-imports ${SERVICE}kernel/h.ts:1`, "export { b } from '#db/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}kernel/i.ts:1`, "export const a = await import('#db/b.ts');\n"],
  [`consistent-type-imports ${SERVICE}kernel/j.ts:1`, "export type A = import('#db/b.ts').B;\n"],
  [`no-restricted-imports ${SERVICE}kernel/k.ts:1`, "export * from '#kernel/../db/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}kernel/l.ts:1`, "export * from './x/../../db/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}kernel/m.ts:1`, "export * from '../../../../tools/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}kernel/n.ts:1`, "export * from '#loose.ts';\n"],
  [`no-restricted-imports ${SERVICE}novel/a.ts:1`, "export * from '#novel/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}web/novel/a.ts:1`, "export * from '#web/novel/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}web/a.ts:1`, "export * from '#web/novel/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}gateway/request/a.ts:1`, "export type { B } from '../lanes/b.ts';\n"],
  [`no-restricted-imports ${SERVICE}gateway/lanes/sandbox-lane.ts:1`, "export * from './live-lane.ts';\n"],
  ['no-restricted-imports packages/contract/src/a.ts:1', "export * from '@purser/service/src/kernel/b.ts';\n"],
  ['no-restricted-imports packages/contract/src/b.ts:1', "export * from './../../simulator/src/b.ts';\n"],
  ['no-restricted-imports benchmarks/support/a.ts:1', "export * from '../../tools/b.ts';\n"],
  ['no-restricted-imports benchmarks/support/b.ts:1', "export * from './x/../../../tools/b.ts';\n"],
  [
    'no-restricted-imports benchmarks/support/c.ts:1',
    "export * from '../../packages/service/src/kernel/../http/b.ts';\n",
  ],
  [`no-restricted-imports ${SERVICE}kernel/o.ts:1`, "export * from './helpers.ts';\n"],
  ['no-restricted-imports tools/d.ts:1', "export * from './index.ts';\n"],
  ['no-restricted-imports tests/e.test.ts:1', "export * from './support/utils.ts';\n"],
  [`no-restricted-properties ${SERVICE}http/b.ts:1`, 'export const a = process.env;\n'],
  [`no-restricted-properties ${SERVICE}http/c.ts:1`, "export const a = process['env'];\n"],
  [`no-restricted-properties ${SERVICE}http/d.ts:1`, 'export const { env } = process;\n'],
  [`no-restricted-properties ${SERVICE}http/e.ts:1`, 'export const a = globalThis?.process;\n'],
  [`no-restricted-properties ${SERVICE}http/f.ts:1`, 'export const a = Math.random();\n'],
  [`no-restricted-globals ${SERVICE}http/g.ts:1`, 'export const a = Date.now();\n'],
  [`no-restricted-globals ${SERVICE}http/h.ts:1`, 'export const a = new Date();\n'],
  [`no-restricted-globals ${SERVICE}http/i.ts:1`, 'export const a = performance.now();\n'],
  [`no-restricted-globals ${SERVICE}http/j.ts:1`, 'export const a = await fetch(b);\n'],
  [`no-restricted-globals ${SERVICE}http/k.ts:1`, 'export const a = await globalThis.fetch(b);\n'],
  [`no-restricted-globals ${SERVICE}http/l.ts:1`, "console.log('a');\n"],
  ['no-restricted-globals packages/sdk/src/a.ts:1', "console.log('a');\n"],
  ['no-restricted-globals tests/sleeps.test.ts:1', 'export const a = new Promise((done) => setTimeout(done, 9));\n'],
  [
    'no-restricted-imports tests/pauses.test.ts:1',
    "import { setTimeout as a } from 'node:timers/promises';\nawait a(9);\n",
  ],
];

/** Texts without a finding. */
const SOUND: readonly (readonly [path: string, text: string])[] = [
  ['tests/short.ts', lines(300, 'step();')],
  ['tools/short.ts', `export function short(): void {\n${lines(68, '  step();')}}\n`],
  ['tests/a.test.ts', "import pg from 'pg';\nexport const a = [pg, process.env, Date.now(), Math.random()];\n"],
  ['tools/a.ts', "import pg from 'pg';\nconsole.log(pg, process.env, new Date());\n"],
  [`${SERVICE}kernel/b.test.ts`, "import pg from 'pg';\nexport const a = [pg, await fetch(b)];\n"],
  [`${SERVICE}kernel/c.ts`, "import { join } from 'node:path';\nexport const a = join('process.env', b);\n"],
  [
    `${SERVICE}kernel/e.ts`,
    'export interface Row {\n  readonly at: Date;\n}\nexport const a = Math.min(1, b.fetch());\n',
  ],
  [`${SERVICE}kernel/p.test.ts`, "import { b } from '#db/b.ts';\nexport const a: typeof import('#db/b.ts') = b;\n"],
  ['benchmarks/b.ts', 'export const a = [process.env, performance.now()];\n'],
];

/** The path of a place, or of a file in it. */
function pathIn(place: string, file = ''): string {
  const name = place.endsWith('.ts') ? place : `${place}/${file}`;
  const area = name.slice(0, name.indexOf('/'));
  if (['examples', 'benchmarks'].includes(area)) return name;
  return PACKAGES.includes(area) ? name.replace('/', '/src/').replace(/^/, 'packages/') : `${SERVICE}${name}`;
}

const isNamed = (place: string, names: string): boolean =>
  names.split(/\s+/).some((name) => place === name || place.startsWith(`${name}/`));

/** What the tables say, read in another way than the configuration reads them. */
function mayImport(from: string, to: string): boolean {
  const { only = to, never = '' } = FILE_IMPORTS[from] ?? {};
  if (isNamed(to, never) || !isNamed(to, only)) return false;
  const [area = '', ...names] = from.split('/');
  const [toArea = '', ...toNames] = to.split('/');
  if (toArea !== area) return AREAS[area]?.includes(toArea) === true || ALLOWED_IMPORTS[from] === to;
  return mayImportWithin(area, names, toNames);
}

function mayImportWithin(folder: string, [name = '', ...names]: readonly string[], to: readonly string[]): boolean {
  const [toName = '', ...toNames] = to;
  const rooms = ROOMS[folder]?.[name];
  if (rooms === undefined) return true;
  return name === toName ? mayImportWithin(`${folder}/${name}`, names, toNames) : rooms.includes(toName);
}

function specifierOf(from: string, to: string): string {
  const [area = '', ...rest] = to.split('/');
  if (!/^(examples|benchmarks)/.test(`${from} ${to}`) && !isNamed(to, 'examples benchmarks')) {
    return PACKAGES.includes(area) ? `@purser/${area}/${rest.join('/')}` : `#${to}`;
  }
  return posix.relative(dirname(pathIn(from, 'placed.ts')), pathIn(to)).replace(/^(?!\.)/, './');
}

const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
  strict: true,
};

const root = mkdtempSync(join(tmpdir(), 'purser-lint-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** `rule path:line` of everything that oxlint finds in a tree of these files, under the repository's configuration. */
async function findingsIn(
  name: string,
  files: ReadonlyMap<string, string>,
  options: readonly string[] = [],
): Promise<readonly string[]> {
  const folder = join(root, name);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of files) write(path, text);
  write(
    'oxlint.config.ts',
    `export { CONFIG as default } from ${JSON.stringify(join(ROOT, 'tools/lint/config.ts'))};\n`,
  );
  write('packages/service/package.json', '{ "name": "@purser/service", "imports": { "#*": "./src/*" } }');
  write('package.json', '{ "type": "module" }');
  write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['**/*.ts'] }));
  write('globals.d.ts', 'declare function step(run?: () => void): never;\ndeclare const b: never;\n');
  mkdirSync(join(folder, 'node_modules/@purser'), { recursive: true });
  symlinkSync('../../packages/service', join(folder, 'node_modules/@purser/service'));
  const args = [join(ROOT, 'node_modules/.bin/oxlint'), ...options, '--format', 'unix', '.'];
  const { output } = await runNode({ args, cwd: folder, timeoutMs: 60_000 });
  return output.split('\n').flatMap((line) => {
    const [, path, at, rule] = /^(\S+):(\d+):\d+: .*\[\w+\/[\w-]+\(([\w-]+)\)\]$/.exec(line) ?? [];
    return path === undefined || path.startsWith('node_modules') ? [] : [`${rule} ${path}:${at}`];
  });
}

const pathOf = (finding: string): string => finding.split(' ')[1]?.replace(/:\d+$/, '') ?? '';
const inBrokenTree = findingsIn(
  'broken',
  new Map([...BROKEN.map(([finds, text]) => [pathOf(finds), text] as const), ...SOUND]),
  ['--type-aware'],
);

for (const [expected, text] of BROKEN) {
  test(`lint fails with ${expected} for ${JSON.stringify(text).slice(0, 80)}`, async () => {
    const found = (await inBrokenTree).filter((finding) => pathOf(finding) === pathOf(expected));
    assert.ok(found.includes(expected), `found: ${found.join(', ')}`);
  });
}

test('lint finds nothing in code that is allowed', async () => {
  const sound = new Set(SOUND.map(([path]) => path));
  assert.deepEqual(
    (await inBrokenTree).filter((finding) => sound.has(pathOf(finding))),
    [],
  );
});

test('every rule in the configuration can fail', () => {
  const sets = [CONFIG, ...CONFIG.overrides].flatMap(({ rules }) => Object.entries(rules ?? {}));
  const names = sets.filter(([, level]) => level !== 'off').map(([name]) => name.replace(/^.*\//, ''));
  assert.deepEqual(new Set(BROKEN.map(([finds]) => finds.split(' ')[0])), new Set(names));
});

test('imports and globals are allowed exactly by the tables', async () => {
  const targets = [
    ...[...new Set(PLACES.map((place) => (place.endsWith('.ts') ? dirname(place) : place)))].map(
      (name) => `${name}/b.ts`,
    ),
    ...Object.keys(FILE_IMPORTS),
    ...Object.values(ALLOWED_IMPORTS),
    'providers/port/provider.ts',
  ];
  const files = new Map<string, string>();
  const expected = new Set<string>();
  for (const place of PLACES) {
    const file = pathIn(place, 'placed.ts');
    const text: string[] = [];
    const add = (line: string, isFree: boolean): void => {
      if (text.push(line) > 0 && !isFree) expected.add(`${file}:${text.length}`);
    };
    for (const to of targets) {
      if (to !== place && !(place === 'examples' && to === 'sdk/b.ts'))
        // A package to `examples`.
        add(`export { x as x${text.length} } from '${specifierOf(place, to)}';`, mayImport(place, to));
    }
    for (const module of Object.keys({ ...MODULES, ...TYPES_OF })) {
      const isFree = isNamed(place, MODULES[module] ?? '');
      add(`export { x as x${text.length} } from '${module}';`, isFree);
      add(`export type { x as x${text.length} } from '${module}';`, isFree || isNamed(place, TYPES_OF[module] ?? ''));
    }
    for (const { name, property, allowed } of RESTRICTED) {
      const use = property === undefined ? name : `${name}.${property}`;
      add(`export const x${text.length} = ${use};`, place === 'benchmarks' || isNamed(place, allowed));
    }
    files.set(file, text.join('\n'));
  }
  const findings = (await findingsIn('places', files)).filter((finding) => finding.startsWith('no-restricted-'));
  const found = new Set(findings.map((finding) => finding.split(' ')[1] ?? ''));
  const wrong = [...new Set([...found, ...expected])]
    .filter((at) => found.has(at) !== expected.has(at))
    .map((at) => {
      const [path = '', line] = at.split(':');
      return `${at} ${files.get(path)?.split('\n')[Number(line) - 1]} is ${found.has(at) ? 'refused' : 'allowed'}`;
    });
  assert.deepEqual(wrong, []);
  assert.ok(expected.size > 10_000);
});

test('a table whose row names a row below it is refused', () => {
  assert.throws(() => tableOf({ kernel: 'cli', cli: 'kernel' }), /"kernel" names "cli", which is not a row above it/);
  assert.throws(() => tableOf({ kernel: 'kernel' }), /not a row above it/);
});
