import { isIP } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { epochMsOf, systemClock } from '#kernel/time/clock.ts';
import { counted } from '#kernel/text/counted.ts';
import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';

const DAYS_BAD = 3;
const DAYS_WARN = 14;
const DAY_MS = 86_400_000;

/** What a server showed in its TLS handshake. */
interface Shown {
  /** Why clients refuse it, such as `CERT_HAS_EXPIRED`. Undefined if they do not. */
  readonly fault: string | undefined;
  readonly validToMs: number;
  readonly protocol: string;
}

/** Checks the certificate of an https address: its chain, its name and the days that it is still valid. */
export async function tryCertificate(url: URL, signal: AbortSignal): Promise<CheckResult> {
  const port = url.port === '' ? 443 : Number(url.port);
  return judgeCertificate(url.host, await shownAt(url.hostname, port, signal), systemClock.nowMs());
}

export function judgeCertificate(host: string, { fault, validToMs, protocol }: Shown, nowMs: number): CheckResult {
  const days = Math.floor((validToMs - nowMs) / DAY_MS);
  if (fault !== undefined) return bad(`Clients refuse the certificate of ${host}: ${fault}.`);
  const what = `The certificate of ${host} is valid for ${counted(days, 'more day', 'more days')} (${protocol}).`;
  if (days < DAYS_BAD) return bad(what);
  return days < DAYS_WARN ? warn(what) : good(what);
}

/** What this host shows in a TLS handshake, trusted or not. Rejects if it cannot be reached, or when the signal aborts. */
export function shownAt(hostname: string, port: number, signal: AbortSignal): Promise<Shown> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect(
      { host, port, ...(isIP(host) === 0 ? { servername: host } : {}), rejectUnauthorized: false },
      () => {
        const certificate: PeerCertificate = socket.getPeerCertificate();
        const { authorizationError: refused } = socket;
        resolve({
          fault: socket.authorized ? undefined : nameOf(refused),
          validToMs: epochMsOf(certificate.valid_to),
          protocol: socket.getProtocol() ?? 'unknown',
        });
        socket.destroy();
      },
    );
    socket.on('error', reject);
    signal.addEventListener('abort', () => socket.destroy(new Error('too late')), { once: true });
  });
}

function nameOf(refused: Error | string | null): string {
  if (refused === null) return 'unknown';
  if (typeof refused === 'string') return refused;
  return 'code' in refused && typeof refused.code === 'string' ? refused.code : refused.message;
}
