import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { MODEL } from './catalogue.ts';
import type { PeerKind } from './peer.ts';
import { untilHealthy } from './poll.ts';
import { start } from './processes.ts';
import { FERROGW } from './target.ts';

const run = promisify(execFile);
const VERSION = '1.5.10';
const FOLDER = fileURLToPath(new URL(`../peers/ferrogw-${VERSION}/`, import.meta.url));
const PROGRAM = path.join(FOLDER, 'bin', 'ferrogw');
const INSTALL_MS_MAX = 120_000;
const START_MS_MAX = 20_000;
const MASTER_KEY = 'fgw_master_of_the_benchmark';
/** Calls a second for each address: more than can be made. It allows few by default. */
const UNLIMITED = '1000000';

/** `ferrogw` is compiled Go. It charges nothing, and renames the model to one that it knows. */
export const ferrogw: PeerKind = {
  name: FERROGW,
  howToGet: `\`pip install ferrogw==${VERSION}\` was tried, and there is no Python or no package index`,
  start: async ({ tools, cores, directory, upstreamUrl, started }) => {
    try {
      await install();
    } catch {
      return undefined;
    }
    mkdirSync(directory, { recursive: true });
    const settings = path.join(directory, 'config.json');
    const routes = {
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'openai' }],
      aliases: { [MODEL]: 'gpt-4o' },
    };
    writeFileSync(settings, JSON.stringify(routes));
    const port = await findFreePort();
    const running = await start({
      tools,
      cores,
      program: PROGRAM,
      args: ['serve'],
      environment: {
        PORT: String(port),
        GATEWAY_CONFIG: settings,
        MASTER_KEY,
        OPENAI_API_KEY: 'sk-of-the-upstream',
        OPENAI_BASE_URL: upstreamUrl,
        RATE_LIMIT_RPS: UNLIMITED,
        RATE_LIMIT_BURST: UNLIMITED,
      },
      directory,
      isReady: /http:\/\/localhost:\d+/,
    });
    started.defer(running.stop);
    const url = `http://127.0.0.1:${port}`;
    await untilHealthy(`${url}/health`, START_MS_MAX);
    return { name: FERROGW, pid: running.pid, load: { url, keys: [MASTER_KEY] } };
  },
};

/** Installs it beside the other peers, if that was not done yet. Throws if it cannot be had. */
async function install(): Promise<void> {
  if (existsSync(PROGRAM)) return;
  const flags = ['--quiet', '--no-deps', '--only-binary=:all:', '--target', FOLDER];
  await run('python3', ['-m', 'pip', 'install', ...flags, `ferrogw==${VERSION}`], { timeout: INSTALL_MS_MAX });
}
