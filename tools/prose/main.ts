import { join } from 'node:path';
import { readTree } from '../structure/read-tree.ts';
import { checkProse } from './check-prose.ts';
import { PROSE } from './rules.ts';

// `node tools/prose/main.ts [path ...]`: prints what it finds in the repository, or below these paths, and fails on it.
const under = process.argv.slice(2);
const findings = checkProse(readTree(join(import.meta.dirname, '..', '..')), PROSE).filter(
  ({ file }) => under.length === 0 || under.some((start) => file.startsWith(start)),
);
for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message} [prose]`);
console.log(`${findings.length} findings.`);
if (findings.length > 0) process.exitCode = 1;
