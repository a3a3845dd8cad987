// `npm run proofs -- clients`: see README.md in tests/clients.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, type Installable, NODE_CLIENTS, PYTHON_PACKAGES, pythonOf } from '../../support/installed.ts';

const FILES = ['stock-client-matrix', 'client-tools', 'embedding-clients', 'ai-sdk-references', 'responses-events'].map(
  (name) => `tests/conformance/${name}.test.ts`,
);
const hook = new URL('../../clients/newest.ts', import.meta.url).href;

const environment = {
  ...settingsOf('Node', NODE_CLIENTS, {
    PURSER_TEST_NODE_CLIENTS: NODE_CLIENTS.directory,
    NODE_OPTIONS: `--import=${hook}`,
  }),
  ...settingsOf('Python', PYTHON_PACKAGES, { PURSER_TEST_PYTHON: pythonOf(PYTHON_PACKAGES) }),
};
const { status } = spawnSync(process.execPath, ['tools/test.ts', ...FILES, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('../../../', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, ...environment },
});
process.exitCode = status ?? 1;

/** The settings by which tests find the packages; none if they cannot be had. */
function settingsOf(language: string, wanted: Installable, settings: Readonly<Record<string, string>>) {
  const why = ensureInstalled(wanted);
  if (why !== undefined) {
    console.log(`not run: the newest clients for ${language}: ${why}`);
    return {};
  }
  const versions = Object.entries(wanted.versions).map(([name, version]) => `${name} ${version}`);
  console.log(`clients for ${language}: ${versions.join(', ')}`);
  return settings;
}
