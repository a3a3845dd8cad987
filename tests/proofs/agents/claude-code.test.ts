import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createGate } from '../../support/gate.ts';
import { addJoiningKey } from '../../support/keys.ts';
import type { UpstreamScript, UpstreamStep } from '../../support/scripted-upstream.ts';
import type { Stage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Deed } from './answers.ts';
import type { ClaudeCode } from './claude-code.ts';
import { chargeOf, DONE, FUNDS, script, setClaudeStage, spentBy, tokensOf, withClaude } from './claude-stage.ts';
import { NOT_RUN } from './home.ts';
import { isStream, type Speaks, speaksChat, speaksMessages } from './messages-answers.ts';
import { sessionsOf } from './sessions.ts';

/** Claude Code, unmodified, alone with the service. */

const WORK: Deed = { tool: 'Bash', given: { command: 'echo made > made.txt', description: 'Make the file' } };
/** Less than the most output of either model costs. */
const SOME_FUNDS = 120_000;
/** How often in a row the connection is lost. */
const CUTS = 3;
const SAID = 'The file is made.\n';

if (NOT_RUN === undefined) {
  const stage = await setClaudeStage();
  for (const [behind, model, speaks] of [
    ['chat completions', 'large', speaksChat],
    ['Claude', 'claude-opus-5-5', speaksMessages],
  ] as const) {
    describe(`Claude Code, ${behind} behind`, () => {
      testWork(stage, model, speaks);
      testLostConnections(stage, model, speaks);
    });
  }
} else test('WI-10 Claude Code', { skip: `not run: ${NOT_RUN}` });

function madeIn({ home }: ClaudeCode): string {
  return readFileSync(path.join(home.work, 'made.txt'), 'utf8');
}

function testWork(stage: Stage, model: string, speaks: Speaks): void {
  const { service, upstream, app } = stage;
  const settings = { key: app.liveKey, model };

  test(`WI-10 CP-19 finishes a task with a tool call by ${model}`, () =>
    withClaude(stage, FUNDS, settings, async (claude, user) => {
      const asked = script(stage, speaks, [WORK, DONE]);
      const { code, out, said } = await claude.run(['Make the file made.txt.']);
      assert.deepEqual([code, out], [0, SAID], said);
      assert.deepEqual([madeIn(claude), asked(), await spentBy(stage, user)], ['made\n', 2, chargeOf(0, 1)]);
      const session = { client: 'claude-code', wire: 'messages', calls: 2, charged: chargeOf(0, 1) };
      assert.deepEqual(await sessionsOf(service, user), [session]);
    }));

  test(`WI-10 meets a 402 and goes on after a top-up by ${model}`, () =>
    withClaude(stage, 0, settings, async (claude, user) => {
      const asked = script(stage, speaks, [WORK, DONE]);
      const refused = await claude.run(['Make the file made.txt.']);
      assert.match(refused.out, /^API Error: 402 .*https:\/\/purser\.test\/topup\/[\w-]{60,}/);
      assert.deepEqual([refused.code, refused.statuses, asked()], [1, [402], 0]);
      await service.fund(app, user, FUNDS);
      const { code, out, said } = await claude.run(['--continue', 'Go on.']);
      assert.deepEqual([code, out], [0, SAID], said);
      assert.deepEqual([madeIn(claude), asked(), await spentBy(stage, user)], ['made\n', 2, chargeOf(0, 1)]);
    }));

  test(`WI-10 asks for what its wallet allows, and pays once by ${model}`, () => {
    const unlimited = { ...settings, environment: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: undefined } };
    return withClaude(stage, SOME_FUNDS, unlimited, async (claude, user) => {
      const asked = script(stage, speaks, [DONE]);
      const { code, out, said, statuses } = await claude.run(['Say it.']);
      assert.deepEqual([code, out, statuses], [0, SAID, [400, 200]], said);
      assert.deepEqual([asked(), await spentBy(stage, user, SOME_FUNDS)], [1, chargeOf(0)]);
    });
  });

  test(`CC-11 a stream that breaks off is asked again whole, and paid once by ${model}`, () =>
    withClaude(stage, FUNDS, settings, async (claude, user) => {
      const before = upstream.requests.length;
      upstream.script((request, index) => {
        const whole = speaks(request, DONE, tokensOf(index - before));
        const { body } = whole;
        return isStream(request) && Array.isArray(body) ? { body: [...body.slice(0, -3), { destroy: true }] } : whole;
      });
      const { code, out, said, statuses } = await claude.run(['Say it.']);
      assert.deepEqual([code, out, statuses], [0, SAID, [200, 200]], said);
      const forms = upstream.requests.slice(before).map(isStream);
      assert.deepEqual([forms, await spentBy(stage, user)], [[true, false], chargeOf(1)]);
    }));
}

function testLostConnections(stage: Stage, model: string, speaks: Speaks): void {
  const { service, upstream, app } = stage;
  for (const joins of [false, true]) {
    test(`CC-14 a stream whose connection is lost is paid ${joins ? 'once if its key joins' : 'with each try'} by ${model}`, async () => {
      const key = joins ? await addJoiningKey(service.database, app) : app.liveKey;
      await withClaude(stage, FUNDS, { key, model }, async (claude, user) => {
        const cut = createGate();
        let cuts = 0;
        const before = upstream.requests.length;
        upstream.script((request, index) => halting(speaks(request, DONE, tokensOf(index - before)), cut.opened));
        const { code, out, said } = await claude.run(['Say it.'], (part, connection) => {
          if (cuts === CUTS || !part.includes('The file')) return;
          cuts += 1;
          connection.destroy();
          cut.open();
        });
        assert.deepEqual([code, out], [0, SAID], said);
        await waitUntil('nothing is held', async () => (await service.wallet(app, user)).held === 0);
        const paid = [upstream.requests.length - before, await spentBy(stage, user)];
        assert.deepEqual(paid, joins ? [1, chargeOf(0)] : [4, chargeOf(0, 1, 2, 3)]);
      });
    });
  }
}

/** The same answer, which waits after the first piece of its text. */
function halting(script: UpstreamScript, opened: Promise<unknown>): UpstreamScript {
  if (!Array.isArray(script.body)) return script;
  const steps = script.body as readonly UpstreamStep[];
  const at = steps.findIndex((step) => 'write' in step && step.write.includes('"The file'));
  assert.ok(at > 0);
  return { body: [...steps.slice(0, at + 1), { waitFor: opened }, ...steps.slice(at + 1)] };
}
