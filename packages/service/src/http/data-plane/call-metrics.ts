import type { CallNotes } from '#gateway/call/call-notes.ts';
import { catalogueTimings } from '#kernel/metrics/catalogue-metrics.ts';
import type { TraceOutcome } from '#calls/traces/queries.ts';

/** What models take, in seconds: from an answer out of a cache to a long stream. */
const MODEL_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** What the database takes, in seconds. A statement has at most five. */
const LEDGER_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The places of these timings in the list below. */
const [TOTAL, FIRST_BYTE, HOLD, SETTLE] = [0, 1, 2, 3] as const;

const timings = catalogueTimings(
  [
    {
      name: 'purser_call_seconds',
      help: 'How long calls took, from the head of the request to the end of the answer.',
      bounds: MODEL_BOUNDS,
    },
    {
      name: 'purser_call_first_byte_seconds',
      help: 'How long streamed calls took until the first of the answer came from the provider.',
      bounds: MODEL_BOUNDS,
    },
    {
      name: 'purser_hold_seconds',
      help: 'How long it took to place the hold of a call.',
      bounds: LEDGER_BOUNDS,
    },
    {
      name: 'purser_settle_seconds',
      help: 'How long it took to settle a call, or to put its settlement on disk.',
      bounds: LEDGER_BOUNDS,
    },
  ],
  { names: ['model', 'provider'], fixed: ['outcome', 'mode'] },
);

/**
 * Counts how long the steps of a call took. `other` stands for a model that is not in the catalogue, and `none` for a provider that was
 * not asked: no text of the caller becomes a label.
 */
export function countTimes(notes: CallNotes, outcome: TraceOutcome): void {
  const { served, failure, times } = notes;
  const { startMs, admittedMs, heldMs, firstByteMs, endedMs, settledMs, doneMs } = times;
  const asked = served === undefined || served.tries === 0 ? 'none' : served.upstream.providerName;
  const provider = failure?.provider ?? asked;
  // Not taken apart as a list: that makes an iterator for every call.
  const buckets = timings.of(notes.model ?? 'other', provider, outcome, notes.caller?.mode ?? 'none');
  buckets[TOTAL]?.observe((doneMs - startMs) / 1_000);
  if (firstByteMs > 0) buckets[FIRST_BYTE]?.observe((firstByteMs - startMs) / 1_000);
  if (heldMs > 0) buckets[HOLD]?.observe((heldMs - admittedMs) / 1_000);
  if (settledMs > 0 && endedMs > 0) buckets[SETTLE]?.observe((settledMs - endedMs) / 1_000);
}
