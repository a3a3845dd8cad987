import { join } from 'node:path';
import { formatChanged } from './kept-files.ts';
import { lintAffected } from './lint/kept.ts';
import { readTree } from './structure/read-tree.ts';
import { type Outcome, ROOT, runNode, runTool, type Tool, TOOLCHAIN } from './toolchain.ts';

interface Check {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

interface Result extends Outcome {
  readonly name: string;
}

const CHECK_TIMEOUT_MS = 300_000;

const tree = readTree(ROOT);
const typesAreRead = Promise.withResolvers<void>();

const CHECKS: readonly Check[] = [
  { name: 'fast tests', run: () => runScript('test.ts', ['--fast']) },
  ...TOOLCHAIN.map((tool) => ({ name: tool.name, run: () => check(tool) })),
  { name: 'prose', run: () => runScript('prose/main.ts', []) },
];

// What a developer runs before each commit: everything, even after something has failed, and then what is wrong.
const results = await Promise.all(CHECKS.map(perform));
const failed = results.filter(({ code }) => code !== 0);
for (const { name, output } of failed) console.log(`\n--- ${name}\n${output.trimEnd()}`);
if (failed.length > 0) {
  console.log(`\nFailed: ${failed.map(({ name }) => name).join(', ')}.`);
  process.exitCode = 1;
}

async function check(tool: Tool): Promise<Outcome> {
  if (tool.name === 'lint') return lintAffected(tree, tool, typesAreRead.promise);
  if (tool.name === 'format') return formatChanged(tree, tool);
  const outcome = await runTool(tool);
  if (tool.name === 'types') typesAreRead.resolve();
  return outcome;
}

async function perform({ name, run }: Check): Promise<Result> {
  const outcome = await run();
  const mark = outcome.code === 0 ? '✔' : '✖';
  console.log(`${mark} ${name.padEnd(12)}${(outcome.durationMs / 1000).toFixed(1).padStart(6)} s`);
  return { name, ...outcome };
}

function runScript(name: string, args: readonly string[]): Promise<Outcome> {
  return runNode({ args: [join(import.meta.dirname, name), ...args], cwd: ROOT, timeoutMs: CHECK_TIMEOUT_MS });
}
