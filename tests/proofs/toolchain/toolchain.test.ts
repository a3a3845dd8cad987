import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runNode, runTool, TOOLCHAIN } from '../../../tools/toolchain.ts';

for (const tool of TOOLCHAIN) {
  test(`\`${tool.bin} ${tool.args.join(' ')}\` finds nothing`, async () => {
    const { code, output } = await runTool(tool);
    assert.equal(code, 0, output);
  });
}

test('a wrong type is found again by what is kept', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-types-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const { args = [] } = TOOLCHAIN.find(({ name }) => name === 'types') ?? {};
  const program = join(ROOT, 'node_modules', '.bin', 'tsc');
  const codes: number[] = [];
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "noEmit": true, "types": [] } }');
  for (const type of ['string', 'string', 'number', 'string']) {
    writeFileSync(join(folder, 'a.ts'), 'export const a = 1;');
    writeFileSync(join(folder, 'b.ts'), `import { a } from './a';\nexport const b: ${type} = a;`);
    codes.push((await runNode({ args: [program, ...args], cwd: folder, timeoutMs: 60_000 })).code);
  }
  assert.deepEqual(
    codes.map((code) => code === 0),
    [false, false, true, false],
  );
});

test('the toolchain is complete', () => {
  assert.deepEqual(
    TOOLCHAIN.map(({ bin }) => bin),
    ['tsc', 'oxlint', 'biome', 'knip', 'knip'],
  );
});
