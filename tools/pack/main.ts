import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../toolchain.ts';
import { buildOf, readBuild } from '../../packages/service/src/kernel/build.ts';
import { packArchive } from './archive.ts';
import { pack } from './pack.ts';

const TARGET = join(ROOT, '.dist');

const { values } = parseArgs({
  // `--build`: the commit and its day, for a build without its history: `git log -1 --abbrev=12 --format='%h %cs'`.
  options: { package: { type: 'boolean', default: false }, build: { type: 'string', default: '' } },
});
const packed = pack(TARGET, buildOf(values.build) ?? readBuild());
const files = [packed.tarball];
if (!values.package && packed.platform !== undefined) files.push(await packArchive(packed, packed.platform, TARGET));
writeFileSync(join(TARGET, 'SHA256SUMS'), files.map((file) => `${digestOf(file)}  ${basename(file)}\n`).join(''));
for (const file of files) {
  console.log(`${relative(ROOT, file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
}
console.log(`${packed.shipped.length} packages of others are inside. SHA256SUMS has the digests.`);

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
