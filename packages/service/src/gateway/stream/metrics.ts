import { counter } from '#kernel/metrics/metrics.ts';

/** Drains that were given up, because they or all drains together went past a limit (CC-11). */
export const drainsCut = counter('purser_drains_cut_total', 'Abandoned streams given up before their end.');
