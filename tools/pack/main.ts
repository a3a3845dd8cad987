import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { pack } from './pack.ts';

const TARGET = join(ROOT, '.dist');

const { tarball, shipped } = pack(TARGET);
const files = [tarball];
writeFileSync(join(TARGET, 'SHA256SUMS'), files.map((file) => `${digestOf(file)}  ${basename(file)}\n`).join(''));
for (const file of files) {
  console.log(
    `${relative(ROOT, file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${shipped.length} packages of others`,
  );
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
