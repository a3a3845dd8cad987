import type { Measure } from '../measure.ts';
import { TRANSLATED_MODEL } from '../support/catalogue.ts';
import { liveTargetOf } from '../support/live-target.ts';
import { saturate } from '../support/saturate.ts';
import { LIVE } from '../support/target.ts';

/** What a provider with a format of its own costs, beside one with the callers' format. */
export const translated: Measure = {
  name: 'translated',
  title: 'Calls to a provider of the compatible format, and to one whose format is translated (Anthropic)',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const targets = [false, true].flatMap((stream) => {
      const kind = stream ? 'streamed' : 'plain';
      return [
        liveTargetOf({ ...ground, name: `${LIVE}, ${kind}`, stream }),
        liveTargetOf({ ...ground, name: `translated, ${kind}`, stream, model: TRANSLATED_MODEL }),
      ];
    });
    return await saturate(bench, ground, targets);
  },
};
