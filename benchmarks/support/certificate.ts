import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Paths of a key and of the certificate of 127.0.0.1 that it signed, which is its own authority. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const DAYS = '2';

/**
 * Makes a new certificate for each run, so that no key is kept anywhere. Returns undefined where there is no `openssl`.
 */
export function makeCertificate(directory: string): Certificate | undefined {
  const [key, cert] = [path.join(directory, 'upstream-key.pem'), path.join(directory, 'upstream-cert.pem')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', DAYS];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  try {
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
    throw fault;
  }
  return { key, cert };
}
