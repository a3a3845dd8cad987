import type { KnipConfig } from 'knip';
import { LONG } from './tools/proofs.ts';

const commandsOfProofs = Object.values(LONG).flatMap(({ long }) => long.flat());

/** Finds files, exports and dependencies that nothing uses. `npm run check` runs it. */
const config: KnipConfig = {
  exclude: ['binaries'], // Programs of the machine, such as `openssl`.
  includeEntryExports: true,
  ignoreIssues: { 'packages/sdk/src/{sdk,wire}.ts': ['exports', 'types'] }, // What apps import.
  workspaces: {
    '.': {
      entry: [
        '{tools,benchmarks}/{*,*/main}.ts',
        'tests/**/*.test.ts',
        ...commandsOfProofs.filter((word) => word.endsWith('.ts')),
        'tests/proofs/hostile/soak-*.ts',
        'tests/proofs/install/{stand-ins,one-server.play}.ts',
      ],
      project: '{tools,tests,benchmarks,examples}/**/*.ts',
    },
    'packages/service': { entry: ['src/cli/main.ts!', 'src/**/*.test.ts'], project: 'src/**/*.ts!' },
    'packages/sdk': { entry: 'src/**/*.test.ts', project: 'src/**/*.ts', ignoreDependencies: ['@purser/contract'] },
    'packages/*': { entry: 'src/**/*.test.ts', project: 'src/**/*.ts' },
  },
};
export default config;
