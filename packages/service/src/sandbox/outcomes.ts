/** What a provider can do with a call, to be had by the name of a model (`docs/SANDBOX.md`). */
export interface Outcome {
  /** How long there is nothing, in times of the wait for a stream's status: above 1, that is told before the outcome. */
  readonly silence: number;
  /** Between two pieces of a stream, in the same measure. */
  readonly pace: number;
  readonly pieces: readonly string[];
  /** What the pieces are of. */
  readonly kind: 'content' | 'refusal' | 'tool-call';
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  readonly reportsUsage: boolean;
  readonly failure: OutcomeFailure | undefined;
}

export interface OutcomeFailure {
  readonly kind: 'throttled' | 'rejected' | 'timeout' | 'outage' | 'cut';
  /** Where a stream fails: before its first piece; after some of them; at its end, for want of a reason to finish. */
  readonly at: 'beginning' | 'middle' | 'end';
}

/** The answer of every call of a real model (SB-02). One piece counts as one token. */
const PIECES = ['This', ' is', ' a', ' sandbox', ' answer', '.', ' No', ' provider', ' was', ' called', '.'] as const;
const ARGUMENTS = ['{"sand', 'box":', 'true}'] as const;
const LONG_PIECES = Array.from({ length: 300 }, (_, index) => ` ${index + 1}`);

/** The canned answer. */
export const CANNED: Outcome = {
  silence: 0,
  pace: 0,
  pieces: PIECES,
  kind: 'content',
  finishReason: 'stop',
  reportsUsage: true,
  failure: undefined,
};

function failing(kind: OutcomeFailure['kind'], at: OutcomeFailure['at'], silence = 0): Outcome {
  return { ...CANNED, silence, failure: { kind, at } };
}

/** Longer than a stream's status is waited for, and half as long. */
const [LATE, SHORT] = [1.2, 0.5] as const;

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  throttled: failing('throttled', 'beginning'),
  error: failing('outage', 'beginning'),
  rejected: failing('rejected', 'beginning'),
  timeout: failing('timeout', 'beginning', SHORT),
  'late-error': failing('outage', 'beginning', LATE),
  'error-midway': failing('outage', 'middle'),
  'throttled-midway': failing('throttled', 'middle'),
  stalled: failing('timeout', 'middle', SHORT),
  unfinished: failing('cut', 'end'),
  length: { ...CANNED, pieces: PIECES.slice(0, 5), finishReason: 'length' },
  'content-filter': { ...CANNED, pieces: PIECES.slice(0, 3), finishReason: 'content_filter' },
  refusal: { ...CANNED, pieces: ['I', ' cannot', ' help', ' with', ' that', '.'], kind: 'refusal' },
  'tool-call': { ...CANNED, pieces: ARGUMENTS, kind: 'tool-call', finishReason: 'tool_calls' },
  'no-usage': { ...CANNED, reportsUsage: false },
  slow: { ...CANNED, silence: LATE },
  long: { ...CANNED, pieces: LONG_PIECES, pace: 0.01 },
};

const PREFIX = 'sandbox/';

/** The models of the failure simulator. A name of the catalogue never begins like theirs. */
export const OUTCOME_MODELS: readonly string[] = Object.keys(OUTCOMES).map((name) => PREFIX + name);

/** The outcome that a model's name asks for; undefined for every other name. */
export function findOutcome(model: string): Outcome | undefined {
  const name = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : '';
  return Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name] : undefined;
}
