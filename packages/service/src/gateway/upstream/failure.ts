import { UpstreamError, type UpstreamErrorKind } from '#providers/provider.ts';

/** What a failure says: about the server, about the key, or nothing about either, because the request or the caller was at fault. */
type Evidence = 'server' | 'key' | 'none';

interface Meaning {
  readonly evidence: Evidence;
  /**
   * Set if another upstream may be asked after it: how telling it is for the caller, the most telling first. What a provider
   * rejected, another one would reject too, so its failure goes to the caller at once (CC-16).
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

/**
 * What the caller is told when two upstreams have failed: the more telling failure. A provider that throttles gets the
 * shortest wait that any of them asked for, because one of them will do.
 */
export function moreTelling(told: UpstreamError | undefined, fault: UpstreamError): UpstreamError {
  if (told === undefined) return fault;
  const [first, second] = rankOf(fault) < rankOf(told) ? [fault, told] : [told, fault];
  const waits = [first, second].flatMap(({ kind, retryAfterSeconds }) =>
    kind === 'throttled' && retryAfterSeconds !== undefined ? [retryAfterSeconds] : [],
  );
  const retryAfterSeconds = waits.length === 0 ? first.retryAfterSeconds : Math.min(...waits);
  if (retryAfterSeconds === first.retryAfterSeconds) return first;
  return new UpstreamError(first.kind, first.message, { cause: first.cause, status: first.status, retryAfterSeconds });
}

function rankOf({ kind }: UpstreamError): number {
  return MEANINGS[kind].rank ?? 0;
}
