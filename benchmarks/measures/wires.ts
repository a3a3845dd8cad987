import type { Measure } from '../measure.ts';
import { CLAUDE_MODEL, EMBEDDINGS_MODEL, RESPONSES_MODEL, TRANSLATED_MODEL } from '../support/catalogue.ts';
import { liveTargetOf } from '../support/live-target.ts';
import { saturate } from '../support/saturate.ts';
import { LIVE } from '../support/target.ts';

/** What a call costs by the wire of its caller and the interface of its provider, beside chat completions on both sides. */
export const wires: Measure = {
  name: 'wires',
  title: 'Calls by each wire: passed through to a provider of the same, and translated for one of another',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const embeddings = liveTargetOf({
      ...ground,
      name: 'embeddings',
      wire: 'embeddings',
      model: EMBEDDINGS_MODEL,
    });
    const targets = [false, true].flatMap((stream) => {
      const kind = stream ? 'streamed' : 'plain';
      const responses = { ...ground, stream, wire: 'responses' } as const;
      const messages = { ...ground, stream, wire: 'messages' } as const;
      return [
        liveTargetOf({ ...ground, name: `${LIVE}, ${kind}`, stream }),
        liveTargetOf({ ...responses, name: `Responses, ${kind}`, model: RESPONSES_MODEL }),
        liveTargetOf({ ...responses, name: `Responses to chat, ${kind}` }),
        liveTargetOf({ ...ground, name: `chat to Responses, ${kind}`, stream, model: RESPONSES_MODEL }),
        liveTargetOf({ ...ground, name: `chat to Messages, ${kind}`, stream, model: TRANSLATED_MODEL }),
        liveTargetOf({ ...messages, name: `Messages, ${kind}`, model: CLAUDE_MODEL }),
        liveTargetOf({ ...messages, name: `Messages to chat, ${kind}` }),
      ];
    });
    return await saturate(bench, ground, [...targets, embeddings]);
  },
};
