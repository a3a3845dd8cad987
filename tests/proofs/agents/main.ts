// `npm run proofs -- agents`: see README.md in this folder.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AGENTS, ensureInstalled, PYTHON_SERVERS } from '../../support/installed.ts';

const why = ensureInstalled(AGENTS);
if (why === undefined) {
  const noServer = ensureInstalled(PYTHON_SERVERS);
  if (noServer !== undefined) console.log(`without llama.cpp: ${noServer}`);
  console.log(
    Object.entries(AGENTS.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  );
  const { status } = spawnSync(process.execPath, ['tools/test.ts', 'tests/proofs/agents', ...process.argv.slice(2)], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else console.log(`not run: ${why}`);
