import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { archiveName } from '../../tools/pack/archive.ts';
import { eraseTypes, nameCommand } from '../../tools/pack/erase.ts';
import { isAllowed, thirdPartyLicences } from '../../tools/pack/licences.ts';
import { type LockEntry, shippedPackages } from '../../tools/pack/lock.ts';
import { DOCUMENTS } from '../../tools/pack/own-files.ts';
import { ROOT } from '../../tools/toolchain.ts';

test('OP-17 erasing types keeps lines and columns', () => {
  const source = `import { type Micros, micros } from '#kernel/values/micros.ts';
import type { Log } from './log.ts';
const later = () => import('@purser/contract/errors.ts');

export function pay<Kind extends string>(amount: Micros, kind?: Kind): never {
  throw new Error(\`\${kind as string}: \${micros(amount)!}\`);
}
`;
  const code = eraseTypes(source);
  for (const word of ['micros }', 'later', 'import(', 'pay', 'throw', 'micros(amount)']) {
    assert.equal(code.lastIndexOf(word), source.lastIndexOf(word), word);
  }
  assert.equal(code.length, source.length);
  assert.match(code, /from '#kernel\/values\/micros\.js'/);
  assert.match(code, /import\('@purser\/contract\/errors\.js'\)/);
  assert.doesNotMatch(code, /Log|Kind/);
});

test('OP-17 only our own module specifiers get another ending', () => {
  for (const text of ["'https://example.com/x.ts'", "'notes.ts'", "'@other/package/x.ts'"]) {
    assert.equal(eraseTypes(`const a = ${text};`), `const a = ${text};`);
  }
  const url = "new URL('../price-lists/compare-worker.ts', import.meta.url)";
  assert.equal(eraseTypes(url), url.replace('.ts', '.js'));
});

test('OP-17 commands appear as users of the program type them', () => {
  assert.equal(nameCommand('Run `npm run purser -- ledger check`.'), 'Run `purser ledger check`.');
  assert.equal(nameCommand('start the service (same as \\`npm start\\`)'), 'start the service');
  assert.equal(nameCommand('npm start\n'), 'purser serve\n');
  assert.equal(nameCommand('npm started'), 'npm started');
});

test('OP-17 installed guides name no command that only a clone has', () => {
  for (const file of globSync([...DOCUMENTS], { cwd: ROOT })) {
    const text = nameCommand(readFileSync(path.join(ROOT, file), 'utf8'));
    const of = text.split(/\n{2,}|^\|/m).filter((part) => /npm\s+(?:run|start|exec|ci)\b/.test(part));
    for (const part of of) assert.match(part, /In a clone/, file);
  }
});

test('OP-17 archives of two builds unpack into two folders', () => {
  const platform = `${process.platform}-${process.arch}`;
  const build = { commit: '0123456789ab', date: '2026-11-28' };
  assert.equal(archiveName('0.1.0', build), `purser-0.1.0-20261128-0123456789ab-${platform}`);
  assert.equal(archiveName('0.1.0', undefined), `purser-0.1.0-${platform}`);
});

test('OP-17 a licence fits if one alternative fits wholly', () => {
  for (const fits of ['MIT', '(AFL-2.1 OR BSD-3-Clause)', 'MIT AND ISC']) assert.ok(isAllowed(fits), fits);
  for (const not of [undefined, 'GPL-3.0', 'MIT AND GPL-3.0', 'SEE LICENSE IN X', 'UNLICENSED']) {
    assert.ok(!isAllowed(not), String(not));
  }
  const entry = { version: '1.0.0', license: 'GPL-3.0' };
  const copyleft = { path: 'node_modules/copyleft', name: 'copyleft', entry };
  assert.throws(
    () => thirdPartyLicences([copyleft], []),
    /cannot be shipped by their licence: copyleft \(GPL-3\.0\)\./,
  );
});

const one = (version: string, dependencies: Readonly<Record<string, string>> = {}): LockEntry => ({
  version,
  dependencies,
});

test('OP-17 exactly the packages the service reaches are shipped', () => {
  const packages: Record<string, LockEntry> = {
    'packages/service': one('0.1.0', { '@purser/contract': '0.1.0', top: '1.0.0' }),
    'node_modules/@purser/contract': { version: '0.1.0', link: true, resolved: 'packages/contract' },
    'packages/contract': one('0.1.0', { shared: '2.0.0' }),
    'node_modules/top': { ...one('1.0.0', { shared: '1.0.0' }), optionalDependencies: { elsewhere: '1' } },
    'node_modules/top/node_modules/shared': one('1.0.0', { deep: '1.0.0' }),
    'node_modules/shared': {
      ...one('2.0.0'),
      peerDependencies: { peer: '*', extra: '*' },
      peerDependenciesMeta: { extra: { optional: true } },
    },
    'node_modules/deep': one('1.0.0'),
    'node_modules/peer': one('1.0.0'),
    'node_modules/extra': one('1.0.0'),
    'node_modules/test-tool': one('1.0.0'),
  };
  const paths = (): readonly string[] =>
    shippedPackages({ version: '0.1.0', packages }, 'packages/service').map(({ path }) => path);
  assert.deepEqual(paths(), [
    'node_modules/deep',
    'node_modules/peer',
    'node_modules/shared',
    'node_modules/top',
    'node_modules/top/node_modules/shared',
  ]);
  delete packages['node_modules/deep'];
  assert.throws(paths, /The lock file has no deep, which node_modules\/top\/node_modules\/shared needs\./);
});
