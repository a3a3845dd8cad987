import { SANDBOX_OUTCOMES, type SandboxOutcome } from '@purser/contract/sandbox.ts';

/** Something that a provider can do with a call. In the sandbox, a model's name selects it (`docs/SANDBOX.md`). */
export interface Outcome {
  /**
   * The delay before the first output, as a multiple of the time that a stream waits before it commits to its status. Above
   * 1, the caller has the status 200 before the outcome shows.
   */
  readonly silence: number;
  /** The delay between two pieces of a stream, in the same unit. */
  readonly pace: number;
  readonly pieces: readonly string[];
  /** What the pieces make up. */
  readonly kind: 'content' | 'refusal' | 'tool-call';
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  readonly reportsUsage: boolean;
  readonly failure: OutcomeFailure | undefined;
}

export interface OutcomeFailure {
  readonly kind: 'throttled' | 'rejected' | 'timeout' | 'outage' | 'cut';
  /** Where a stream fails: before its first piece, after some pieces, or at its end because the finish reason is missing. */
  readonly at: 'beginning' | 'middle' | 'end';
}

/** The answer to every sandbox call of a real model (SB-02). One piece counts as one token. */
const PIECES = ['This', ' is', ' a', ' sandbox', ' answer', '.', ' No', ' provider', ' was', ' called', '.'] as const;
const ARGUMENTS = ['{"sand', 'box":', 'true}'] as const;
const LONG_PIECES = Array.from({ length: 300 }, (_, index) => ` ${index + 1}`);

/** The outcome of every model that is not part of the failure simulator. */
export const CANNED: Outcome = {
  silence: 0,
  pace: 0,
  pieces: PIECES,
  kind: 'content',
  finishReason: 'stop',
  reportsUsage: true,
  failure: undefined,
};

/** A failure at `at`, after `silence`. Everything else is as in the canned answer. */
function failing(kind: OutcomeFailure['kind'], at: OutcomeFailure['at'], silence = 0): Outcome {
  return { ...CANNED, silence, failure: { kind, at } };
}

/** Delays longer than the wait for a stream's status, and half as long as it. */
const [LATE, SHORT] = [1.2, 0.5] as const;

const OUTCOMES: Readonly<Record<SandboxOutcome, Outcome>> = {
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

/** The model that always plays an outcome. */
export function outcomeModel(outcome: string): string {
  return PREFIX + outcome;
}

/** The models of the failure simulator. The catalogue refuses names with this prefix, so they never clash. */
export const OUTCOME_MODELS: readonly string[] = SANDBOX_OUTCOMES.map(outcomeModel);

/** The outcome that a model's name selects. Undefined for all other models. */
export function findOutcome(model: string): Outcome | undefined {
  const name = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : '';
  const known = SANDBOX_OUTCOMES.find((outcome) => outcome === name);
  return known && OUTCOMES[known];
}
