import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../../packages/service/src/embedded/free-port.ts';
import { type Running, start } from './processes.ts';
import type { Tools } from './tools.ts';
import { NODE_OPTIONS } from './service.ts';

const run = promisify(execFile);
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));
const PROGRAM = `${PEERS}node_modules/@portkey-ai/gateway/build/start-server.js`;
const INSTALL_MS_MAX = 120_000;

export interface Portkey extends Running {
  readonly url: string;
}

/** Installs it, as `peers/package-lock.json` has it, where that was not done yet. Throws where it cannot be had. */
export async function installPortkey(): Promise<void> {
  if (existsSync(PROGRAM)) return;
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const [program, ...words] = node !== undefined && npm !== undefined ? [node, npm] : ['npm'];
  const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run(program ?? 'npm', [...words, ...flags], { cwd: PEERS, timeout: INSTALL_MS_MAX });
}

/** The gateway of another vendor, which charges nothing, on the same Node. Where a call goes to, its headers say. */
export async function startPortkey({
  tools,
  cores,
}: {
  readonly tools: Tools;
  readonly cores: string;
}): Promise<Portkey> {
  const port = await findFreePort();
  const running = await start({
    tools,
    cores,
    program: process.execPath,
    args: [...NODE_OPTIONS, PROGRAM, `--port=${port}`, '--headless'],
    environment: { NODE_ENV: 'production' },
    isReady: /Ready for connections/,
  });
  return { ...running, url: `http://127.0.0.1:${port}` };
}

/** What makes it send a call to the upstream. */
export function portkeyHeaders(upstreamUrl: string): Readonly<Record<string, string>> {
  return { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` };
}
