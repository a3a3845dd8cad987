import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, type Program, run, startProgram } from './programs.ts';

/** The time is short, so that connections close under the service again and again. */
const KEEP_ALIVE_SECONDS = 1;

/** The certificate of a proxy, and the private authority that signed it. */
type Certificates = ReturnType<typeof makeCertificates>;

/** Makes a private authority and a certificate for 127.0.0.1. */
export function makeCertificates(directory: string) {
  const authority = ['-x509', '-subj', '/CN=Private authority', '-days', '2', '-keyout', 'ca.key', '-out', 'ca.pem'];
  run('openssl', ['req', '-newkey', 'rsa:2048', '-nodes', ...authority], directory);
  run(
    'openssl',
    ['req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1', '-keyout', 'front.key', '-out', 'front.csr'],
    directory,
  );
  writeFileSync(path.join(directory, 'front.ext'), 'subjectAltName=IP:127.0.0.1\n');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'front.ext'];
  run('openssl', ['x509', '-req', '-in', 'front.csr', ...signed, '-out', 'front.crt'], directory);
  run('sh', ['-c', 'cat front.crt front.key > front.pem'], directory);
  const at = (name: string) => path.join(directory, name);
  return {
    authority: at('ca.pem'),
    certificate: at('front.crt'),
    key: at('front.key'),
    /** The certificate and the key are in one file, as HAProxy takes them. */
    both: at('front.pem'),
  };
}

interface Front {
  readonly directory: string;
  readonly certificates: Certificates;
  /** The port of the server behind it. */
  readonly behind: number;
}

export type StartFront = (front: Front) => Promise<Program>;

/** Starts nginx with TLS. It closes connections after a second without a request. */
export async function startNginx({ directory, certificates, behind }: Front): Promise<Program> {
  const port = await freePort();
  const home = path.join(directory, `nginx-${port}`);
  mkdirSync(home);
  writeFileSync(
    path.join(home, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${home}/pid; error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${home}; proxy_temp_path ${home}; fastcgi_temp_path ${home};
  uwsgi_temp_path ${home}; scgi_temp_path ${home};
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${certificates.certificate}; ssl_certificate_key ${certificates.key};
    keepalive_timeout ${KEEP_ALIVE_SECONDS}s; client_max_body_size 8m;
    location / { proxy_pass http://127.0.0.1:${behind}; proxy_http_version 1.1; proxy_buffering off; }
  }
}
`,
  );
  const words = ['-p', home, '-c', path.join(home, 'nginx.conf')];
  return startProgram({ command: 'nginx', words, port, directory, name: `nginx-${port}` });
}

/** Starts HAProxy with TLS. It closes connections after a second without a request. */
export async function startHaproxy({ directory, certificates, behind }: Front): Promise<Program> {
  const port = await freePort();
  const file = path.join(directory, `haproxy-${port}.cfg`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive ${KEEP_ALIVE_SECONDS}s
frontend front
  bind 127.0.0.1:${port} ssl crt ${certificates.both} alpn http/1.1
  default_backend behind
backend behind
  server one 127.0.0.1:${behind}
`,
  );
  return startProgram({ command: 'haproxy', words: ['-f', file], port, directory, name: `haproxy-${port}` });
}
