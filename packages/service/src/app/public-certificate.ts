import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { epochMsOf, type SteadyClock, steadyClock } from '#kernel/clock.ts';

/** A certificate changes every few weeks. */
const KEPT_MS = 3_600_000;
/** An address that did not answer is tried again soon. */
const RETRY_MS = 60_000;
const ANSWER_MS_MAX = 2_000;

/**
 * Reads when the certificate of the public address ends, in milliseconds, at most once an hour. It may be of any authority: clients
 * judge that. Undefined if the address is not https, or did not answer.
 */
export function createPublicCertificate(
  publicUrl: string,
  clock: SteadyClock = steadyClock,
): () => Promise<number | undefined> {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol !== 'https:') return () => Promise.resolve(undefined);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  let kept: number | undefined;
  let untilMs = -Infinity;
  let looking: Promise<number | undefined> | undefined;

  async function look(): Promise<number | undefined> {
    kept = await endOf(host, port === '' ? 443 : Number(port)).catch(() => undefined);
    untilMs = clock.nowMs() + (kept === undefined ? RETRY_MS : KEPT_MS);
    looking = undefined;
    return kept;
  }
  return () => {
    if (clock.nowMs() < untilMs) return Promise.resolve(kept);
    looking ??= look();
    return kept === undefined ? looking : Promise.resolve(kept); // A gap every hour would end an alert.
  };
}

function endOf(host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, ...name, rejectUnauthorized: false }, () => {
    resolve(epochMsOf(socket.getPeerCertificate().valid_to));
    socket.destroy();
  });
  socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('The public address did not answer in time.')));
  socket.on('error', reject);
  return promise;
}
