import type { Ending, Hold } from '#gateway/call/lane.ts';
import { counter, labelledCounter } from '#kernel/metrics.ts';
import type { Mode } from '#kernel/ids.ts';
import { type Micros, microsToWire } from '#kernel/micros.ts';

const MODES = ['live', 'sandbox'] as const satisfies readonly Mode[];
const OUTCOMES = ['answered', 'abandoned', 'failed'] as const satisfies readonly Ending['outcome'][];

const calls = labelledCounter('purser_calls_total', 'Calls that held money and have ended, by how.', {
  mode: MODES,
  outcome: OUTCOMES,
});
const chargedMicros = labelledCounter('purser_charged_micros_total', 'What calls were charged, in micros.', {
  mode: MODES,
});
const overruns = counter('purser_overruns_total', 'Calls for which a provider reported more than was held.');
const overrunMicros = counter('purser_overrun_micros_total', 'What providers reported above holds, in micros.');

/** Reported usage that contradicted itself: the nearest usage that does not was taken. */
const usageClamped = counter('purser_usage_clamped_total', 'Calls whose reported usage contradicted itself.');
/** Answers that ran past the limit that the provider was sent (WA-07). */
const outputsCut = counter('purser_outputs_cut_total', 'Answers cut because they ran past their output limit.');
/** Counts a call that has ended. */
export function countEnding({ mode, granted }: Hold<Mode>, ending: Ending, charged: Micros): void {
  calls.of({ mode, outcome: ending.outcome }).add();
  chargedMicros.of({ mode }).add(microsToWire(charged));
  if (ending.isUsageClamped) usageClamped.add();
  if (ending.isPastLimit) outputsCut.add();
  if (mode !== 'live' || ending.isEstimated || ending.charge <= granted) return;
  overruns.add();
  overrunMicros.add(Number(ending.charge - granted));
}
