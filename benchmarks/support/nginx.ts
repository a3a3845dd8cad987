import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { type Running, start } from './processes.ts';
import type { Tools } from './tools.ts';

export interface Nginx {
  readonly pid: number;
  /** Where answers are buffered, as is nginx's default. */
  readonly url: string;
  /** Where they are passed on as they come, as streams need it. */
  readonly unbufferedUrl: string;
  readonly stop: () => Promise<void>;
}

interface NginxOptions {
  readonly tools: Tools & { readonly nginx: string };
  readonly cores: string;
  readonly directory: string;
  readonly upstreamUrl: string;
}

/** Starts nginx as a plain reverse proxy before the upstream: one worker, connections kept open on both sides, no log. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const prefix = path.join(options.directory, 'nginx');
  mkdirSync(prefix, { recursive: true });
  const [port, unbufferedPort] = [await findFreePort(), await findFreePort()];
  const file = path.join(prefix, 'nginx.conf');
  writeFileSync(file, settingsOf(prefix, new URL(options.upstreamUrl).host, port, unbufferedPort));
  const running: Running = await start({
    tools: options.tools,
    cores: options.cores,
    program: options.tools.nginx,
    args: ['-p', prefix, '-c', file, '-e', 'stderr'],
    isReady: /start worker process \d+/,
  });
  return {
    pid: running.pid,
    stop: running.stop,
    url: `http://127.0.0.1:${port}`,
    unbufferedUrl: `http://127.0.0.1:${unbufferedPort}`,
  };
}

function settingsOf(prefix: string, upstream: string, port: number, unbufferedPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${prefix}/${name};`)
    .join('\n');
  return `daemon off;
worker_processes 1;
pid ${prefix}/nginx.pid;
error_log stderr notice;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_requests 100000000;
${temporary}
  upstream upstream {
    server ${upstream};
    keepalive 4096;
    keepalive_requests 100000000;
  }
${serverOf(port, '')}
${serverOf(unbufferedPort, 'proxy_buffering off;')}
}
`;
}

function serverOf(port: number, more: string): string {
  return `  server {
    listen 127.0.0.1:${port} backlog=4096 reuseport;
    location / {
      proxy_pass http://upstream;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      ${more}
    }
  }`;
}
