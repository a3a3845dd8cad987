import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { namedVersion, readBuild } from '../../../packages/service/src/kernel/build.ts';
import { pack, type Packed } from '../../../tools/pack/pack.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { COMPLETIONS, send } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { checkByCommand, readDemo, startServiceProcess } from '../../support/service-process.ts';

/** The package as its users have it: a tarball, unpacked where npm puts it, without the rest of the repository. */

const INSTALLED_MIB_MAX = 60;
const run = promisify(execFile);
const TEST_PROGRAM = /\.(?:ts|map)$/;

let folder: string;
let installed: string;
let program: string;
let packed: Packed;

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'purser package '));
  packed = pack(path.join(folder, 'dist'));
  installed = path.join(folder, 'prefix/lib/node_modules/purser');
  program = path.join(folder, 'prefix/bin/purser');
  mkdirSync(installed, { recursive: true });
  mkdirSync(path.dirname(program));
  await run('tar', ['-xzf', packed.tarball, '-C', installed, '--strip-components=1']);
  symlinkSync('../lib/node_modules/purser/bin/purser', program);
});

after(() => rmSync(folder, { recursive: true, force: true }));

test('OP-17 the installed command serves a charged call', async (t) => {
  const database = await createTestDatabase();
  t.after(database.close);
  const dataDirectory = mkdtempSync(path.join(folder, 'data-'));
  const catalogue: unknown = JSON.parse(readFileSync(path.join(ROOT, 'packages/service/demo-catalogue.json'), 'utf8'));
  const options = { dataDirectory, catalogue, databaseUrl: database.url, program };
  const service = await startServiceProcess(options);
  t.after(service.stop);
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello, Purser!' }] };
  const call = await send(COMPLETIONS, { url: service.url, key, user, body });
  assert.equal(call.status, 200, call.text);
  assert.equal(call.headers.get('x-service-charge-micros'), '91');
  const guide = await send('/guides/operator-install', { url: service.url });
  assert.equal(guide.status, 200);
  assert.match(guide.text, /purser operator create/);
  assert.doesNotMatch(guide.text, /npm run purser -- /);
  const check = await checkByCommand(options);
  assert.equal(check.status, 0, check.said);
  assert.match(check.said, /1 wallets, 2 entries, 0 differences/);
  assert.match(
    readFileSync(`/proc/${service.pid}/cmdline`, 'latin1'),
    /cli\/main\.js/,
    'the launcher became the program',
  );
});

test('OP-17 the installed command needs no file outside', async () => {
  const names = Object.keys((readJson('package.json') as { dependencies: object }).dependencies);
  const script = `for (const name of ${JSON.stringify(names.filter((name) => !name.startsWith('@purser/')))}) await import(name);`;
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: path.join(installed, 'packages/service') });
  const { stdout } = await run(program, ['--version']);
  assert.equal(stdout, `${namedVersion(packed.version, readBuild())}\n`);
});

test('OP-17 the package contains code, SQL and guides', () => {
  const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((entry) => entry.isFile());
  const typed = files.filter(({ name }) => TEST_PROGRAM.test(name)).map(({ name }) => name);
  assert.deepEqual(typed, []);
  for (const file of files.filter(({ parentPath }) => !parentPath.includes('node_modules/purser/node_modules'))) {
    if (!/\.(?:js|md)$/.test(file.name) || file.name === 'CHANGELOG.md') continue;
    const text = readFileSync(path.join(file.parentPath, file.name), 'utf8');
    assert.doesNotMatch(text, /npm run purser -- |npm start\b/, file.name);
    assert.ok(!text.includes(ROOT), file.name);
  }
  for (const sample of ['systemd/purser.service', 'systemd/purser@.service', 'nginx/purser.conf', 'caddy/Caddyfile']) {
    assert.ok(existsSync(path.join(installed, 'deploy', sample)), sample);
  }
  const bytes = Number(spawnSync('du', ['-sk', installed], { encoding: 'utf8' }).stdout.split('\t')[0]) * 1024;
  assert.ok(bytes > 0 && bytes < INSTALLED_MIB_MAX * 1024 * 1024, `${bytes} bytes`);
});

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

test('OP-17 packages inside are pinned and licensed', () => {
  const { packages } = readJson('npm-shrinkwrap.json') as { packages: Readonly<Record<string, Entry>> };
  const licences = readFileSync(path.join(installed, 'THIRD-PARTY-LICENSES'), 'utf8');
  const { components } = readJson('sbom.cdx.json') as {
    components: readonly { name: string; version: string; hashes?: readonly object[] }[];
  };
  const listed = new Map(components.map((one) => [`${one.name}@${one.version}`, one.hashes?.length]));
  const inside = globSync('node_modules/**/package.json', { cwd: installed }).map((file) => path.dirname(file));
  const theirs = inside.filter(
    (folder) => packages[folder] !== undefined && !folder.startsWith('node_modules/@purser/'),
  );
  assert.ok(theirs.length > 100, `${theirs.length} packages`);
  for (const place of theirs) {
    const { version, integrity, resolved } = packages[place] ?? { version: '' };
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    assert.equal((readJson(path.join(place, 'package.json')) as Entry).version, version, place);
    assert.match(integrity ?? '', /^sha512-/, place);
    assert.equal(resolved, undefined, place);
    assert.ok(licences.includes(`\n${name} ${version} (`), `the licence of ${name} ${version}`);
    assert.equal(listed.get(`${name}@${version}`), 1, `${name} ${version} in the bill of materials`);
  }
  for (const { name, entry } of Object.values(packed.platform ?? {})) {
    assert.ok(licences.includes(`\n${name} ${entry.version} (`), name);
    assert.equal(listed.get(`${name}@${entry.version}`), 1, name);
  }
});

test('OP-17 a machine without a recent Node gets one clear line', () => {
  const bare = mkdtempSync(path.join(folder, 'bare-'));
  for (const tool of ['sh', 'dirname', 'readlink']) {
    const found = spawnSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(found, path.join(bare, tool));
  }
  const without = spawnSync(program, ['help'], { encoding: 'utf8', env: { PATH: bare } });
  assert.deepEqual([without.status, without.stdout], [78, '']);
  assert.match(without.stderr, /^Purser needs Node \d+ or newer, but there is no `node` on the PATH\..+\n$/);

  const check = path.join(installed, 'bin/node-version.cjs');
  const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); require(${JSON.stringify(check)})`;
  const old = spawnSync(process.execPath, ['-e', older], { encoding: 'utf8' });
  assert.equal(old.status, 78);
  assert.match(old.stderr, /^Purser needs Node \d+ or newer, but \S+ is 20\.20\.2\..+\n$/);
  assert.ok(existsSync(program));
});

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(installed, file), 'utf8'));
}
