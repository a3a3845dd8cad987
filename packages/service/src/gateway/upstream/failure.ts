import type { Upstream } from '#catalogue/catalogue.ts';
import { UpstreamError, type UpstreamErrorKind } from '#providers/port/provider.ts';

/** What a failure says: about the server, about the key, or nothing about either, because the request or the caller was at fault. */
type Evidence = 'server' | 'key' | 'none';

interface Meaning {
  readonly evidence: Evidence;
  /**
   * It is set if another upstream may be asked after the failure, and says how telling the failure is for the caller,
   * the most telling first. What a provider rejected, another one would reject too, so its failure goes to the caller
   * at once (CC-16).
   */
  readonly rank?: number;
}

const MEANINGS: Readonly<Record<UpstreamErrorKind, Meaning>> = {
  throttled: { evidence: 'key', rank: 1 },
  timeout: { evidence: 'server', rank: 2 },
  outage: { evidence: 'server', rank: 3 },
  unauthorized: { evidence: 'key', rank: 4 },
  malformed: { evidence: 'server' },
  cut: { evidence: 'server' },
  'too-long': { evidence: 'none' },
  rejected: { evidence: 'none' },
  refused: { evidence: 'none' },
  'too-large': { evidence: 'none' },
  unsent: { evidence: 'none' },
  'given-up': { evidence: 'none' },
};

export function evidenceOf({ kind }: UpstreamError): Evidence {
  return MEANINGS[kind].evidence;
}

/** Whether another upstream may be asked after this failure. */
export function canGoOn(fault: unknown): fault is UpstreamError {
  return fault instanceof UpstreamError && MEANINGS[fault.kind].rank !== undefined;
}

/** A failure, and who failed. */
interface Told {
  readonly fault: UpstreamError;
  readonly upstream: Upstream;
}

/**
 * What the caller is told when two upstreams have failed: the more telling failure. If providers throttle, that is the shortest
 * wait that any of them asked for, because one of them will do.
 */
export function moreTelling(told: Told | undefined, next: Told): Told {
  if (told === undefined) return next;
  const { fault, upstream } = rankOf(next) < rankOf(told) ? next : told;
  const waits = [told.fault, next.fault].flatMap(({ kind, retryAfterSeconds }) =>
    kind === 'throttled' && retryAfterSeconds !== undefined ? [retryAfterSeconds] : [],
  );
  const retryAfterSeconds = waits.length === 0 ? fault.retryAfterSeconds : Math.min(...waits);
  if (retryAfterSeconds === fault.retryAfterSeconds) return { fault, upstream };
  const { kind, message, cause, status, isOwnLimit } = fault;
  return { upstream, fault: new UpstreamError(kind, message, { cause, status, isOwnLimit, retryAfterSeconds }) };
}

function rankOf({ fault: { kind } }: Told): number {
  return MEANINGS[kind].rank ?? 0;
}
