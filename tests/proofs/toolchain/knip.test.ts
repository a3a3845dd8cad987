import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, runNode, TOOLCHAIN } from '../../../tools/toolchain.ts';

const SERVICE = 'packages/service/src';
const LIBRARIES = '"dependencies": { "left-pad": "1.0.0" }, "imports": { "#*": "./src/*" }';

/** A service of a few files in which each kind of thing is unused once. */
const FILES: Readonly<Record<string, string>> = {
  'knip.ts': `export { default } from ${JSON.stringify(join(ROOT, 'knip.ts'))};`,
  'package.json': '{ "name": "purser", "type": "module", "workspaces": ["packages/*"] }',
  'packages/service/package.json': `{ "name": "@purser/service", "type": "module", ${LIBRARIES} }`,
  'packages/sdk/package.json': '{ "name": "@purser/sdk", "type": "module" }',
  [`${SERVICE}/cli/main.ts`]: "import { a } from '#kernel/used.ts';\nimport 'is-odd';\nexport const entry = a;\n",
  [`${SERVICE}/kernel/used.ts`]:
    'export const a = 1;\nexport const forTests = 2;\nexport const lonely = 3;\nexport type Odd = 4;\n',
  [`${SERVICE}/kernel/used.test.ts`]:
    "import { a } from '#kernel/tested.ts';\nimport { forTests } from '#kernel/used.ts';\n[a, forTests];",
  [`${SERVICE}/kernel/tested.ts`]: 'export const a = 1;',
  [`${SERVICE}/kernel/alone.ts`]: '',
  'tests/a.test.ts': "import { used } from './support/stage.ts';\nused;",
  'tests/support/stage.ts': 'export const used = 1;\nexport const idle = 2;\n',
  'tests/support/idle.ts': '',
};

const folder = mkdtempSync(join(tmpdir(), 'purser-knip-'));
after(() => rmSync(folder, { recursive: true }));
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Returns the findings of a tool of `npm run check` as `file: name`, below their headings. */
async function findingsOf(name: string): Promise<readonly string[]> {
  const { args = [] } = TOOLCHAIN.find((tool) => tool.name === name) ?? {};
  const program = [join(ROOT, 'node_modules', '.bin', 'knip'), ...args, '--reporter', 'compact'];
  const { code, output } = await runNode({ args: program, cwd: folder, timeoutMs: 60_000 });
  assert.notEqual(code, 0);
  return output.trimEnd().split('\n');
}

test('knip finds files, exports and packages that nothing uses', async () => {
  const found = await findingsOf('unused');
  assert.deepEqual(await findingsOf('unused'), found, 'by what it has kept');
  assert.deepEqual(found, [
    'Unused files (2)',
    `${SERVICE}/kernel/alone.ts: ${SERVICE}/kernel/alone.ts`,
    'tests/support/idle.ts: tests/support/idle.ts',
    'Unused dependencies (1)',
    'packages/service/package.json: left-pad',
    'Unlisted dependencies (1)',
    `${SERVICE}/cli/main.ts: is-odd`,
    'Unused exports (3)',
    `${SERVICE}/cli/main.ts: entry`,
    `${SERVICE}/kernel/used.ts: lonely`,
    'tests/support/stage.ts: idle',
    'Unused exported types (1)',
    `${SERVICE}/kernel/used.ts: Odd`,
  ]);
});

test('knip finds files of the service that only tests reach', async () => {
  assert.deepEqual(await findingsOf('unreached'), [
    'Unused files (2)',
    `${SERVICE}/kernel/alone.ts: ${SERVICE}/kernel/alone.ts`,
    `${SERVICE}/kernel/tested.ts: ${SERVICE}/kernel/tested.ts`,
  ]);
});
