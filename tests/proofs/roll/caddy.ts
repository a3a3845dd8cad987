// Caddy with the sample of `deploy/caddy`, in front of gateways of a test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from '../../../benchmarks/support/certificate.ts';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { type Nginx, programAt } from '../../support/nginx.ts';
import { waitUntil } from '../../support/wait-until.ts';

const SAMPLE = readFileSync(path.join(ROOT, 'deploy/caddy/Caddyfile'), 'utf8');

/** Starts Caddy. It returns undefined where Caddy or openssl is not installed. A reload reads the same file again. */
export async function startCaddy(options: {
  readonly directory: string;
  readonly gateways: readonly string[];
}): Promise<Pick<Nginx, 'url' | 'ca' | 'said' | 'reload' | 'stop'> | undefined> {
  const { directory, gateways } = options;
  const program = programAt('caddy');
  const certificate = program === undefined ? undefined : makeCertificate(directory);
  if (program === undefined || certificate === undefined) return undefined;
  const [port, admin] = [await findFreePort(), await findFreePort()];
  const file = path.join(directory, 'Caddyfile');
  const site = `https://127.0.0.1:${port} {\n\ttls ${certificate.cert} ${certificate.key}`;
  const changed = SAMPLE.replace('pay.example.com {', site).replace(
    '127.0.0.1:8787',
    gateways.map((url) => new URL(url).host).join(' '),
  );
  // A client that names an address sends no server name.
  const own = `\tadmin 127.0.0.1:${admin}\n\tauto_https disable_redirects\n\tdefault_sni 127.0.0.1\n`;
  writeFileSync(file, changed.replace('\n{\n', `\n{\n${own}`));
  const env = { ...process.env, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
  const child = spawn(program, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (part: Buffer) => void (said = (said + part.toString('utf8')).slice(-50_000)));
  await waitUntil('Caddy runs', () => {
    if (child.exitCode !== null) throw new Error(`Caddy ended: ${said}`);
    return said.includes('serving initial configuration');
  });
  return {
    url: `https://127.0.0.1:${port}`,
    ca: readFileSync(certificate.cert),
    said: () => said,
    reload: async () => {
      const words = [
        'reload',
        '--config',
        file,
        '--adapter',
        'caddyfile',
        '--address',
        `127.0.0.1:${admin}`,
        '--force',
      ];
      await once(spawn(program, words, { env, stdio: 'ignore' }), 'exit');
    },
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
