import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { createGate } from '../../support/gate.ts';
import { addJoiningKey } from '../../support/keys.ts';
import type { UpstreamScript, UpstreamStep } from '../../support/scripted-upstream.ts';
import { setStage, type Stage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type AnswerWith, type Deed, inChat, natively, type Tokens } from './answers.ts';
import { type Codex, setUpCodex } from './codex.ts';
import { NOT_RUN } from './home.ts';
import { sessionsOf } from './sessions.ts';

/** Codex CLI, unmodified, alone with the service. */

const FUNDS = 10_000_000;
const WORK: Deed = { tool: 'exec_command', given: { cmd: 'echo made > made.txt' } };
const DONE: Deed = { text: 'The file is made.' };
/** How often in a row the connection is lost. */
const CUTS = 3;
const SAID = 'The file is made.\n';
const PATCH = '*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch';
const PROGRAM = 'const { output } = await tools.exec_command({ cmd: "echo made > made.txt" });\ntext(output);';
/** What each call uses, by its number: all are different, so that none can stand for another. */
const tokensOf = (index: number): Tokens => ({ prompt: 9_000 + index, completion: 40 + 3 * index });
const chargeOf = (...indexes: readonly number[]): number =>
  indexes.reduce((sum, index) => sum + chargeFor(tokensOf(index)), 0);

if (NOT_RUN === undefined) {
  const stage = await setStage({
    checksBooks: true,
    model: { onAbandon: 'drain' }, // So the usage of a stream that was left is known exactly.
    catalogue: ({ providers, models, aliases }) => ({
      providers: { ...providers, native: { ...providers.upstream, apis: ['responses'] } },
      models: [...models, { ...models[0], id: 'acme.native-1', provider: 'native' }],
      aliases: {
        ...aliases,
        native: 'acme.native-1',
        'gpt-5.5': 'acme.large-1',
        'gpt-5.6-sol': 'acme.large-1',
        'gpt-5.5-native': 'acme.native-1',
        'gpt-5.6-sol-native': 'acme.native-1',
      },
    }),
  });
  describe('Codex CLI, chat completions behind', () => testWork(stage, 'large', inChat));
  describe('Codex CLI, Responses behind', () => testWork(stage, 'native', natively));
  describe('Codex CLI, by names that it knows', () => testKnownNames(stage));
} else test('WI-04 Codex CLI', { skip: `not run: ${NOT_RUN}` });

/** Runs it for a new user with a balance, under a name of a model. */
async function withCodex(
  stage: Stage,
  model: string,
  balance: number,
  use: (codex: Codex, user: string) => Promise<void>,
  key = stage.app.liveKey,
) {
  const user = await stage.newUser(balance);
  const codex = setUpCodex(stage.service, key, user, model);
  try {
    await use(codex, user);
  } finally {
    codex.home.remove();
  }
}

/** Answers with these deeds from now on. Returns a function that says how many requests came since. */
function script({ upstream }: Stage, answer: AnswerWith, deeds: readonly Deed[]): () => number {
  const before = upstream.requests.length;
  upstream.script((_, index) => {
    const at = index - before;
    return answer(deeds[Math.min(at, deeds.length - 1)] ?? DONE, tokensOf(at));
  });
  return () => upstream.requests.length - before;
}

async function spentBy({ service, app }: Stage, user: string): Promise<number> {
  const { balance, held, openStreams } = await service.wallet(app, user);
  assert.deepEqual([held, openStreams], [0, 0]);
  return FUNDS - balance;
}

function madeIn({ home }: Codex): string {
  return readFileSync(path.join(home.work, 'made.txt'), 'utf8');
}

function testWork(stage: Stage, model: string, answer: AnswerWith): void {
  const { service, upstream, app } = stage;

  test(`WI-04 CP-19 finishes a task with a tool call by ${model}`, () =>
    withCodex(stage, model, FUNDS, async (codex, user) => {
      const asked = script(stage, answer, [WORK, DONE]);
      const { code, out, said } = await codex.exec(['Make the file made.txt.']);
      assert.deepEqual([code, out], [0, SAID], said);
      assert.deepEqual([madeIn(codex), asked(), await spentBy(stage, user)], ['made\n', 2, chargeOf(0, 1)]);
      const session = { client: 'codex', wire: 'responses', calls: 2, charged: chargeOf(0, 1) };
      assert.deepEqual(await sessionsOf(service, user), [session]);
    }));

  test(`WI-07 meets a 402 and goes on after a top-up by ${model}`, () =>
    withCodex(stage, model, 0, async (codex, user) => {
      const asked = script(stage, answer, [WORK, DONE]);
      const refused = await codex.exec(['Make the file made.txt.']);
      assert.match(refused.said, /402 Payment Required.*https:\/\/purser\.test\/topup\/[\w-]{60,}/s);
      assert.deepEqual([refused.code, asked()], [1, 0]);
      await service.fund(app, user, FUNDS);
      const { code, out, said } = await codex.exec(['resume', '--last', 'Go on.']);
      assert.deepEqual([code, out], [0, SAID], said);
      assert.deepEqual([madeIn(codex), asked(), await spentBy(stage, user)], ['made\n', 2, chargeOf(0, 1)]);
    }));

  test(`CC-11 a stream that its provider breaks off is repeated for nothing by ${model}`, () =>
    withCodex(stage, model, FUNDS, async (codex, user) => {
      const before = upstream.requests.length;
      upstream.script((_, index) => {
        const at = index - before;
        const whole = answer(DONE, tokensOf(at));
        if (at > 0 || typeof whole.body === 'string' || Buffer.isBuffer(whole.body)) return whole;
        return { body: [...whole.body.slice(0, -3), { destroy: true }] };
      });
      const { code, out, said } = await codex.exec(['Say it.']);
      assert.deepEqual([code, out], [0, SAID], said);
      assert.deepEqual([upstream.requests.length - before, await spentBy(stage, user)], [2, chargeOf(1)]);
    }));

  for (const joins of [false, true]) {
    test(`CC-14 a stream whose connection is lost is paid ${joins ? 'once if its key joins' : 'with each try'} by ${model}`, async () => {
      const key = joins ? await addJoiningKey(service.database, app) : app.liveKey;
      const use = async (codex: Codex, user: string): Promise<void> => {
        const cut = createGate();
        let cuts = 0;
        const before = upstream.requests.length;
        upstream.script((_, index) => halting(answer(DONE, tokensOf(index - before)), cut.opened));
        const { code, out, said } = await codex.exec(['Say it.'], (part, connection) => {
          if (cuts === CUTS || !part.includes('The file')) return;
          cuts += 1;
          connection.destroy();
          cut.open();
        });
        assert.deepEqual([code, out], [0, SAID], said);
        await waitUntil('nothing is held', async () => (await service.wallet(app, user)).held === 0);
        const paid = [upstream.requests.length - before, await spentBy(stage, user)];
        assert.deepEqual(paid, joins ? [1, chargeOf(0)] : [4, chargeOf(0, 1, 2, 3)]);
      };
      await withCodex(stage, model, FUNDS, use, key);
    });
  }
}

/** The same answer, which waits after the first piece of its text. */
function halting({ body }: UpstreamScript, opened: Promise<unknown>): UpstreamScript {
  assert.ok(Array.isArray(body));
  const steps = body as readonly UpstreamStep[];
  const at = steps.findIndex((step) => 'write' in step && step.write.includes('"The file'));
  assert.ok(at > 0);
  return { body: [...steps.slice(0, at + 1), { waitFor: opened }, ...steps.slice(at + 1)] };
}

/** By these it sends other tools: custom ones with a grammar, in an item of the input, and in namespaces. */
function testKnownNames(stage: Stage): void {
  for (const [model, answer, tool, input] of [
    ['gpt-5.5', inChat, 'apply_patch', PATCH],
    ['gpt-5.6-sol', inChat, 'functions__exec', PROGRAM],
    ['gpt-5.5-native', natively, 'apply_patch', PATCH],
    ['gpt-5.6-sol-native', natively, 'functions__exec', PROGRAM],
  ] as const) {
    test(`WI-04 finishes a task with a custom tool under the name ${model}`, () =>
      withCodex(stage, model, FUNDS, async (codex, user) => {
        const asked = script(stage, answer, [{ tool, given: { input }, isCustom: true }, DONE]);
        const { code, out, said } = await codex.exec(['Make the file made.txt.']);
        assert.deepEqual([code, out], [0, SAID], said);
        assert.deepEqual([madeIn(codex), asked(), await spentBy(stage, user)], ['made\n', 2, chargeOf(0, 1)]);
        if (answer === natively) assertPassedWhole(stage, tool, input);
      }));
  }

  test('WI-04 runs a tool of a namespace under the name gpt-5.6-sol', () =>
    withCodex(stage, 'gpt-5.6-sol', FUNDS, async ({ exec }, user) => {
      script(stage, inChat, [{ tool: 'collaboration__list_agents', given: {} }, DONE]);
      const { code, out, said } = await exec(['Which agents are there?']);
      assert.deepEqual([code, out], [0, SAID], said);
      const { messages } = stage.upstream.requests.at(-1)!.body as { readonly messages: readonly { role: string }[] };
      assert.match(JSON.stringify(messages.find(({ role }) => role === 'tool')), /agent_name/);
      assert.equal(await spentBy(stage, user), chargeOf(0, 1));
    }));
}

/** Its vendor got the custom tool with its grammar, and then the call and its output, as the agent sent them (WI-02). */
function assertPassedWhole({ upstream }: Stage, tool: string, called: string): void {
  const [name = '', namespace] = tool.split('__').toReversed();
  const { body } = upstream.requests.at(-1)!;
  const { input } = body as { readonly input: readonly { readonly type: string }[] };
  const offered = `"type":"custom","name":"${name}","description":"[^"]*(?:\\\\.[^"]*)*","format":{"type":"grammar"`;
  assert.match(JSON.stringify(body), new RegExp(offered));
  assert.partialDeepStrictEqual(input.slice(-2), [
    { type: 'custom_tool_call', name, ...(namespace && { namespace }), input: called },
    { type: 'custom_tool_call_output', call_id: 'call_1' },
  ]);
}
