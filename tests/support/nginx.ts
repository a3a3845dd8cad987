// nginx with the sample of `deploy/nginx`, in front of gateways of a test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { makeCertificate } from '../../benchmarks/support/certificate.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { waitUntil } from './wait-until.ts';

const SAMPLE = readFileSync(path.join(ROOT, 'deploy/nginx/purser.conf'), 'utf8');
/** Debian puts nginx where only root looks. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];

export interface Nginx {
  readonly url: string;
  /** Its address without TLS, which sends everybody to the other. */
  readonly plainUrl: string;
  /** The certificate that its clients must trust. */
  readonly ca: Buffer;
  readonly pid: number;
  /** What it wrote to its error log. */
  readonly said: () => string;
  /** Its access log. */
  readonly logged: () => string;
  /** Starts new workers and lets the old ones end. Resolves when the new ones run. */
  readonly reload: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface NginxOptions {
  /** The directory, which is empty and not shared. */
  readonly directory: string;
  readonly gateways: readonly string[];
  readonly workers?: number;
  /** Changes the sample. */
  readonly adapt?: (sample: string) => string;
}

/** The path of a program, or undefined if it is not installed. */
export function programAt(name: string): string | undefined {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns undefined where nginx or openssl is not installed. */
export async function startNginx({
  directory,
  gateways,
  workers = 1,
  adapt = (same) => same,
}: NginxOptions): Promise<Nginx | undefined> {
  const program = programAt('nginx');
  chmodSync(directory, 0o711); // Its workers give up the rights of root.
  const certificate = program === undefined ? undefined : makeCertificate(directory);
  if (program === undefined || certificate === undefined) return undefined;
  const [port, plainPort] = [await findFreePort(), await findFreePort()];
  const log = path.join(directory, 'access.log');
  const errorLog = path.join(directory, 'error.log');
  const file = path.join(directory, 'nginx.conf');
  writeFileSync(file, settingsOf({ directory, gateways, workers, adapt, certificate, log, errorLog, port, plainPort }));
  const child = spawn(program, ['-p', directory, '-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  const starts = (): number => said.match(/start worker process \d+/g)?.length ?? 0;
  await waitUntil('nginx runs', () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    return starts() >= workers;
  });
  return {
    url: `https://127.0.0.1:${port}`,
    plainUrl: `http://127.0.0.1:${plainPort}`,
    ca: readFileSync(certificate.cert),
    pid: child.pid ?? 0,
    said: () => said + readFileSync(errorLog, 'utf8'),
    logged: () => readFileSync(log, 'utf8'),
    reload: async () => {
      const wanted = starts() + workers;
      child.kill('SIGHUP');
      await waitUntil('nginx has new workers', () => starts() >= wanted);
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface Settings extends Required<NginxOptions> {
  readonly certificate: { readonly key: string; readonly cert: string };
  readonly log: string;
  readonly errorLog: string;
  readonly port: number;
  readonly plainPort: number;
}

/** The sample with the lines changed that it asks to be changed, and its ports. */
function settingsOf({
  directory,
  gateways,
  workers,
  adapt,
  certificate,
  log,
  errorLog,
  port,
  plainPort,
}: Settings): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const [, first = ''] = /\n(  server 127\.0\.0\.1:8787 .*)\n/.exec(SAMPLE) ?? [];
  const servers = gateways.map((url) => first.replace('127.0.0.1:8787', new URL(url).host)).join('\n');
  const changed = adapt(SAMPLE)
    .replace(first, servers)
    .replaceAll(/ *listen \[::\].*\n/g, '')
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl backlog=4096`)
    .replace(/ssl_certificate \S+/, `ssl_certificate ${certificate.cert};`)
    .replace(/ssl_certificate_key \S+/, `ssl_certificate_key ${certificate.key};`)
    .replaceAll('/var/log/nginx/purser.log', log)
    .replaceAll('/var/log/nginx/purser-error.log', errorLog);
  return `daemon off;
worker_processes ${workers};
worker_rlimit_nofile 16384;
pid ${directory}/nginx.pid;
error_log stderr notice;
events { worker_connections 8192; }
http {
${temporary.map((line) => `  ${line.replace('path ', `path ${directory}/`)}`).join('\n')}
${changed}}
`;
}
