import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import type { PeerKind } from './peer.ts';
import { start } from './processes.ts';
import { NODE_OPTIONS } from './service.ts';
import { PORTKEY } from './target.ts';

const run = promisify(execFile);
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));
const PROGRAM = `${PEERS}node_modules/@portkey-ai/gateway/build/start-server.js`;
const INSTALL_MS_MAX = 120_000;

/** `@portkey-ai/gateway` runs on the same Node. It charges nothing. A call's headers say where it goes. */
export const portkey: PeerKind = {
  name: PORTKEY,
  howToGet: '`@portkey-ai/gateway` comes from the npm registry, which could not be reached',
  start: async ({ tools, cores, upstreamUrl, started }) => {
    try {
      await install();
    } catch {
      return undefined;
    }
    const port = await findFreePort();
    const running = await start({
      tools,
      cores,
      program: process.execPath,
      args: [...NODE_OPTIONS, PROGRAM, `--port=${port}`, '--headless'],
      environment: { NODE_ENV: 'production' },
      isReady: /Ready for connections/,
    });
    started.defer(running.stop);
    const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` };
    const load = { url: `http://127.0.0.1:${port}`, keys: ['sk-of-the-upstream'], headers };
    return { name: PORTKEY, pid: running.pid, load };
  },
};

/** Installs it as `peers/package-lock.json` says, if that was not done yet. Throws if it cannot be had. */
async function install(): Promise<void> {
  if (existsSync(PROGRAM)) return;
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const [program, ...words] = node !== undefined && npm !== undefined ? [node, npm] : ['npm'];
  const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run(program ?? 'npm', [...words, ...flags], { cwd: PEERS, timeout: INSTALL_MS_MAX });
}
