import type { Measure } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { targetsOf } from '../support/targets.ts';

export const plain: Measure = {
  name: 'plain',
  title: 'Plain calls, 128 connections',
  run: async (bench) => {
    const ground = await bench.ground();
    return await saturate(bench, ground, targetsOf(bench, ground, false));
  },
};
