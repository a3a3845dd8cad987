import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runNode } from '../../tools/toolchain.ts';

const PLANTED = ['settle-twice', 'charge-rounded-down'];
const TIMEOUT_MS = 110_000;

test('the suite notices a settlement that runs twice, and a charge that is rounded down', async () => {
  const args = [join(ROOT, 'tools/mutants/main.ts'), ...PLANTED.flatMap((id) => ['--only', id])];
  const { code, output } = await runNode({ args, cwd: ROOT, timeoutMs: TIMEOUT_MS });
  assert.equal(code, 0, output);
  for (const id of PLANTED) assert.match(output, new RegExp(`^✔ ${id} `, 'm'));
  assert.match(output, /^2 mutants, 2 killed, in \d+ s\.$/m);
});
