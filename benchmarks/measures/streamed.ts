import type { Measure } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { peerTargetsOf, sandboxTargetsOf, targetsOf } from '../support/targets.ts';

/** Streams that come in one go: what it costs to relay them, not to keep them open. */
export const streamed: Measure = {
  name: 'streamed',
  title: 'Streamed calls, 60 chunks in one go, 128 connections',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const peers = await peerTargetsOf(ground, true);
    return await saturate(bench, ground, [...targetsOf(ground, true), ...sandboxTargetsOf(ground, true), ...peers]);
  },
};
