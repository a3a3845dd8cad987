import { join } from 'node:path';
import { formatFinding } from './finding.ts';
import { inspect } from './inspect.ts';
import { readTree } from './read-tree.ts';
import { RULES } from './rules.ts';

// `node tools/structure/main.ts`: prints the findings on this repository and fails when there are any.
const { findings, counts } = inspect(readTree(join(import.meta.dirname, '..', '..')), RULES);
for (const finding of findings) console.log(formatFinding(finding));
const read = Object.entries(counts).map(([what, number]) => `${number} ${what}`);
console.log(`${findings.length} findings. Read: ${read.join(', ')}.`);
if (findings.length > 0) process.exitCode = 1;
