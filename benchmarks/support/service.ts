import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogueOf, PROVIDER_KEY } from './catalogue.ts';
import { type Running, start } from './processes.ts';
import type { Tools } from './tools.ts';

const CLI = fileURLToPath(new URL('../../packages/service/src/cli/main.ts', import.meta.url));

export interface ServiceOptions {
  readonly tools: Tools;
  readonly cores: string;
  /** Its data directory. */
  readonly directory: string;
  readonly databaseUrl: string;
  readonly upstreamUrl: string;
  /** The address of the upstream over TLS, where there is one. */
  readonly secureUpstreamUrl?: string;
  readonly workers?: number;
  /** Further settings, as environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of Node itself, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
}

/** The options that `npm start` has. Other gateways on Node get the same, because it helps all. */
export const NODE_OPTIONS = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

/** The same as that of `npm start`, so that a measured service starts like any after the first one. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/purser', import.meta.url));

/** Starts the service as an operator does in production, in a process of its own. Its address is `ready`. */
export function startService(options: ServiceOptions): Promise<Running> {
  mkdirSync(options.directory, { recursive: true });
  const catalogueFile = path.join(options.directory, 'catalogue.json');
  writeFileSync(catalogueFile, JSON.stringify(catalogueOf(options.upstreamUrl, options.secureUpstreamUrl)));
  return start({
    tools: options.tools,
    cores: options.cores,
    program: process.execPath,
    args: [...NODE_OPTIONS, ...(options.nodeOptions ?? []), CLI, 'serve'],
    environment: {
      PURSER_ENV: 'production',
      PURSER_SECRET: 'a secret of the benchmark, which guards nothing of worth',
      PURSER_PUBLIC_URL: 'https://purser.test',
      PURSER_DATA_DIR: options.directory,
      PURSER_CATALOGUE: catalogueFile,
      PURSER_LOG_LEVEL: 'warn',
      PURSER_WORKERS: String(options.workers ?? 1),
      DATABASE_URL: options.databaseUrl,
      PURSER_DATABASE_DURABILITY: 'none', // Some measures use a server that flushes nothing.
      [PROVIDER_KEY]: 'a key that opens nothing',
      PORT: '0',
      PURSER_STOP_DELAY_SECONDS: '0',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...options.environment,
    },
    isReady: /Purser is ready at (\S+?)\.?\s/,
  });
}
