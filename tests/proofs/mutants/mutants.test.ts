import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runNode } from '../../../tools/toolchain.ts';

const PLANTED = 'settle-twice';
const TIMEOUT_MS = 170_000;

test('the suite notices a settlement that runs twice', async () => {
  const args = [join(ROOT, 'tools/mutants/main.ts'), '--only', PLANTED];
  const { code, output } = await runNode({ args, cwd: ROOT, timeoutMs: TIMEOUT_MS });
  assert.equal(code, 0, output);
  assert.match(output, new RegExp(`^✔ ${PLANTED} `, 'm'));
  assert.match(output, /^1 mutants, 1 killed, in \d+ s\.$/m);
});
