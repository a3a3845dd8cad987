import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';
import { shownAt } from '#doctor/outside/certificate.ts';

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
  let kept: number | undefined;
  let untilMs = -Infinity;
  let looking: Promise<number | undefined> | undefined;

  async function look(): Promise<number | undefined> {
    kept = await shownAt(hostname, port === '' ? 443 : Number(port), AbortSignal.timeout(ANSWER_MS_MAX)).then(
      ({ validToMs }) => validToMs,
      () => undefined,
    );
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
