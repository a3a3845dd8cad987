import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../toolchain.ts';
import { packArchive } from './archive.ts';
import { pack } from './pack.ts';

const TARGET = join(ROOT, '.dist');

const { values } = parseArgs({ options: { package: { type: 'boolean', default: false } } });
const packed = pack(TARGET);
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
