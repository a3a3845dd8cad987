import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool, TOOLCHAIN } from '../../../tools/toolchain.ts';

for (const tool of TOOLCHAIN) {
  test(`\`${tool.bin} ${tool.args.join(' ')}\` finds nothing`, async () => {
    const { code, output } = await runTool(tool);
    assert.equal(code, 0, output);
  });
}

test('the toolchain is complete', () => {
  assert.deepEqual(
    TOOLCHAIN.map(({ bin }) => bin),
    ['tsc', 'oxlint', 'biome', 'knip', 'knip'],
  );
});
