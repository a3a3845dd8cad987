import { readTree } from '../structure/read-tree.ts';
import { ROOT } from '../toolchain.ts';
import { checkProse, checkTestNames } from './check-prose.ts';
import { PROSE } from './rules.ts';
import { testNamesOf } from './test-names.ts';

const LONGEST_SHOWN = 20;

// `node tools/prose/main.ts [path ...]`: prints what it finds in the repository, or below these paths, and fails on it.
// `node tools/prose/main.ts --names`: prints the longest names of tests and the median length.
const under = process.argv.slice(2);
const tree = readTree(ROOT);
if (under[0] === '--names') printNames();
else printFindings();

function printFindings(): void {
  const findings = [...checkProse(tree, PROSE), ...checkTestNames(tree, PROSE)].filter(
    ({ file }) => under.length === 0 || under.some((start) => file.startsWith(start)),
  );
  for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message} [prose]`);
  console.log(`${findings.length} findings.`);
  if (findings.length > 0) process.exitCode = 1;
}

function printNames(): void {
  const names = testNamesOf(tree).toSorted((left, right) => right.words - left.words);
  for (const { words, file, line, name } of names.slice(0, LONGEST_SHOWN))
    console.log(`${words} ${file}:${line}: ${name}`);
  console.log(`${names.length} names. Median: ${names[names.length >> 1]?.words} words.`);
}
