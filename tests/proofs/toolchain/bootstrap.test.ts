import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Outcome, ROOT, runNode } from '../../../tools/toolchain.ts';

const folder = mkdtempSync(join(tmpdir(), 'purser-bootstrap-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs the script in a fresh copy, on a machine whose `node` is old and whose `npm` is the given shell script. */
function bootstrapWith(npm: string): Promise<Outcome> {
  const root = mkdtempSync(join(folder, 'copy-'));
  for (const name of ['scripts', 'path']) mkdirSync(join(root, name));
  copyFileSync(join(ROOT, 'scripts', 'bootstrap.cjs'), join(root, 'scripts', 'bootstrap.cjs'));
  writeFileSync(join(root, 'package-lock.json'), '{ "packages": { "": {} } }');
  for (const [name, script] of Object.entries({ node: 'echo 20.1.0', npm })) {
    writeFileSync(join(root, 'path', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const environment = { PATH: `${join(root, 'path')}:/usr/bin:/bin`, npm_execpath: '' };
  return runNode({ args: ['scripts/bootstrap.cjs'], cwd: root, timeoutMs: 60_000, environment });
}

test('bootstrap finds its Node outside npm', async () => {
  const { code, output } = await bootstrapWith(`
    mkdir -p node_modules/.bin && cd node_modules/.bin
    printf '#!/bin/sh\\necho 26.0.0\\n' > node && chmod +x node`);
  assert.equal(code, 0, output);
  assert.match(output, /^\[purser\] Installing the locked packages[^\n]*\n$/);
});

test('bootstrap says which Node is missing for the platform', async () => {
  const { code, output } = await bootstrapWith('mkdir -p node_modules');
  assert.equal(code, 1);
  assert.match(output, /Purser needs Node 26, but found 20\.1\.0\. There is no packaged Node for/);
});
