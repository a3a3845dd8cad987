import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODEX_ALIAS } from '../clients/scenario.ts';
import { askWith, type Tool, TOOLS, toolVersion } from '../clients/tools.ts';
import { chargeFor } from '../support/catalogue.ts';
import {
  completionBody,
  type RecordedRequest,
  streamSteps,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { addJoiningKey } from '../support/keys.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Tools that are not libraries of the format, as their users run them. */

// A minute long, so only if it is asked for.
const ASKED = {
  Python: process.env['PURSER_TEST_PYTHON'] !== undefined,
  Node: process.env['PURSER_TEST_NODE_CLIENTS'] !== undefined,
};
const installed = TOOLS.filter((tool) => ASKED[tool.language] && toolVersion(tool) !== undefined);
const HOW_TO_RUN = 'not run: `npm run proofs -- clients` installs and runs them';
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const FUNDS = 1_000_000;
const FORECAST = {
  id: 'call_1',
  type: 'function',
  function: { name: 'forecast', arguments: '{"city":"Oslo"}' },
};

for (const { name } of TOOLS.filter((tool) => !installed.includes(tool))) test(name, { skip: HOW_TO_RUN });

if (installed.length > 0) await testTools(installed);

/** Has a tool called if one is given, and then says something. */
function answer({ body, rawBody }: RecordedRequest): UpstreamScript {
  const { stream: isStream, tools } = body as { stream?: boolean; tools?: unknown };
  if (tools !== undefined && !rawBody.includes('Sun in Oslo.')) {
    const toolCalls = [FORECAST];
    return {
      body: completionBody({ model: 'm', content: null, toolCalls, finishReason: 'tool_calls', usage: USAGE }),
    };
  }
  return isStream === true
    ? { body: streamSteps({ model: 'm', pieces: ['Hi.'], usage: USAGE, includeUsageChunk: true }) }
    : { body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };
}

async function testTools(tools: readonly Tool[]): Promise<void> {
  const { service, upstream, app, newUser } = await setStage({
    model: { timeoutMs: 30_000, maxOutputTokens: 20_000 },
    catalogue: (basis) => ({ ...basis, aliases: { ...basis.aliases, [CODEX_ALIAS]: 'acme.large-1' } }),
  });
  const baseUrl = `${service.url}/v1`;
  async function spentBy(user: string): Promise<number> {
    const { balance, held } = await service.wallet(app, user);
    assert.equal(held, 0);
    return FUNDS - balance;
  }

  describe('tools', () => {
    for (const tool of tools) {
      test(`CC-01 ${tool.name} is answered, and each of its calls is charged once`, async () => {
        const user = await newUser(FUNDS);
        upstream.script(answer);
        assert.deepEqual(await askWith(tool, { baseUrl, key: app.liveKey, user }), { text: 'Hi.', failure: null });
        assert.equal(await spentBy(user), tool.loops === true ? 2 * CHARGE : CHARGE);
      });

      test(`ER-07 ${tool.name} shows why a call without money is refused`, async () => {
        const { failure } = await askWith(tool, { baseUrl, key: app.liveKey, user: 'poor' });
        assert.match(failure ?? '', tool.shows);
      });
    }

    const dspy = tools.find((tool) => tool.package === 'dspy');
    test('CC-14 DSPy pays once when its retry joins the call', {
      skip: dspy === undefined,
    }, async () => {
      assert.ok(dspy);
      const seen: unknown[] = [];
      for (const key of [app.liveKey, await addJoiningKey(service.database, app)]) {
        const user = await newUser(FUNDS);
        const before = upstream.requests.length;
        upstream.script((request) => ({ body: [{ waitMs: 2_500 }, { write: answer(request).body as string }] }));
        const { text, failure } = await askWith(dspy, { baseUrl, key, user, timeoutSeconds: 1 });
        await waitUntil('nothing runs any more', async () => (await service.wallet(app, user)).held === 0);
        seen.push([text, /timed out/i.test(failure ?? ''), upstream.requests.length - before, await spentBy(user)]);
      }
      assert.deepEqual(seen, [
        ['', true, 4, 4 * CHARGE],
        ['Hi.', false, 1, CHARGE],
      ]);
    });
  });
}
