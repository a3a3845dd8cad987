import { counter } from '#kernel/metrics.ts';

/** Abandoned streams that were not read to their end, because they or all of them together went too far (CC-11). */
export const drainsCut = counter('purser_drains_cut_total', 'Abandoned streams given up before their end.');
