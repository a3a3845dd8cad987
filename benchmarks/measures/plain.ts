import type { Measure } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { targetsWithPeers } from '../support/targets.ts';

/** Plain calls, as many as can be made. */
export const plain: Measure = {
  name: 'plain',
  title: 'Plain calls, 128 connections',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    return await saturate(bench, ground, await targetsWithPeers(bench, ground, false));
  },
};
