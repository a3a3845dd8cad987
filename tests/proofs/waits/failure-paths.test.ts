import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CALLER_LEAVES } from './failure-paths/caller-leaves.ts';
import { PROVIDER_BREAKS } from './failure-paths/provider-breaks.ts';
import { PROVIDER_REFUSES } from './failure-paths/provider-refuses.ts';
import { isOfChat } from './failure-paths/path.ts';
import { walk } from './failure-paths/walk.ts';
import { WHOLE_ANSWERS } from './failure-paths/whole-answers.ts';
import { scriptByPrompt } from './failure-paths/prompt-scripts.ts';
import { withVectors } from '../../support/catalogue.ts';
import { ROUNDS } from '../../support/rounds.ts';
import { setStage } from '../../support/stage.ts';
import { ALL_WIRES, WIRES } from '../../support/wires.ts';

/** Every way a call can fail, or seem to, and its expected result: `failure-paths/`. */
const PATHS = [...PROVIDER_REFUSES, ...PROVIDER_BREAKS, ...WHOLE_ANSWERS, ...CALLER_LEAVES];
const AT_A_TIME = 12;
const HASTE_MS = 2_000;

const stage = await setStage({
  app: { maxStreamsPerUser: 1 }, // If a slot is not freed, the next stream is refused.
  catalogue: (catalogue) => {
    const { providers, models, aliases } = withVectors(catalogue);
    const open = models.filter(({ id }) => id.endsWith('large-1'));
    return {
      providers: { ...providers, closed: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
      models: open.flatMap((large) => {
        const named = (name: string, fields: object) => ({ ...large, id: large.id.replace('large', name), ...fields });
        return [
          large,
          named('drained', { onAbandon: 'drain' }),
          named('hasty', { timeoutMs: HASTE_MS }),
          named('drained-hasty', { onAbandon: 'drain', timeoutMs: HASTE_MS }),
          named('closed', { provider: 'closed' }),
        ];
      }),
      aliases: { large: aliases.large },
    };
  },
});
const scripts = scriptByPrompt(stage.upstream);

describe('failure paths', { concurrency: AT_A_TIME }, () => {
  for (const [place, path] of PATHS.entries()) {
    for (const kind of path.kinds) {
      test(`${path.clause} a ${kind} call: ${path.what}`, async () => {
        for (let round = 1; round <= ROUNDS; round += 1) {
          // Each path goes by another wire in each round, and so does its neighbour.
          const [chat] = WIRES;
          const wires = kind === 'plain' ? ALL_WIRES : WIRES;
          const wire = isOfChat(path) ? chat : wires[(place + round) % wires.length];
          await walk(stage, scripts, { path, kind, wire: wire ?? chat });
        }
      });
    }
  }
});

test('WA-09 after all failure paths the books are right', async () => {
  assert.deepEqual(await stage.service.check(), []);
});
