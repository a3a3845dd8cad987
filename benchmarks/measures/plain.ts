import type { Measure } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { DIRECT } from '../support/target.ts';
import { peerTargetsOf, sandboxTargetsOf, targetsOf } from '../support/targets.ts';

const FEW = 16;

/** Makes as many plain calls as can be made. */
export const plain: Measure = {
  name: 'plain',
  title: 'Plain calls, 128 connections',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const peers = await peerTargetsOf(ground, false);
    return await saturate(bench, ground, [...targetsOf(ground, false), ...sandboxTargetsOf(ground, false), ...peers]);
  },
};

/** The same by few callers, as most installations have them: there is less to do at once. */
export const plainFew: Measure = {
  name: 'plain-16',
  title: `Plain calls, ${FEW} connections`,
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const gateways = targetsOf(ground, false).filter(({ name }) => name !== DIRECT);
    return await saturate(bench, ground, [...gateways, ...(await peerTargetsOf(ground, false))], FEW);
  },
};
