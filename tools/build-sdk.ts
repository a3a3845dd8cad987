import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNode } from './toolchain.ts';

const SDK = join(ROOT, 'packages', 'sdk');
const BUILD_TIMEOUT_MS = 100_000;

/**
 * Makes what is published of packages/sdk: ES modules, the same as CommonJS, and the types beside each. The code comes without comments, the
 * types with them.
 */
export async function buildSdk(target: string): Promise<void> {
  const [esm, cjs] = [join(target, 'esm'), join(target, 'cjs')];
  rmSync(target, { recursive: true, force: true });
  await compile(['--outDir', esm, '--removeComments']);
  await compile(['--outDir', esm, '--declaration', '--emitDeclarationOnly']);
  // The one place where our modules become CommonJS: no dependency, so nothing to resolve by other rules.
  const commonJs = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];
  await compile(['--outDir', cjs, '--removeComments', ...commonJs]);
  for (const file of globSync('*.d.ts', { cwd: esm })) {
    // The compiler leaves the names of sources in the types.
    const text = readFileSync(join(esm, file), 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
    writeFileSync(join(esm, file), text);
    cpSync(join(esm, file), join(cjs, file));
  }
  mkdirSync(cjs, { recursive: true });
  writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
}

async function compile(options: readonly string[]): Promise<void> {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const args = [tsc, '--project', join(SDK, 'tsconfig.json'), '--pretty', 'false', ...options];
  const { code, output } = await runNode({ args, cwd: ROOT, timeoutMs: BUILD_TIMEOUT_MS });
  if (code !== 0) throw new Error(`The SDK does not build:\n${output}`);
}

if (import.meta.main) await buildSdk(join(SDK, 'dist'));
