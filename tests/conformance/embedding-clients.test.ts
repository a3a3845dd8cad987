import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Embedded, type Embedder, EMBEDDERS } from '../clients/embedders.ts';
import { runScript, toolVersion } from '../clients/tools.ts';
import { chargeFor, withVectors } from '../support/catalogue.ts';
import { addBoundKey } from '../support/keys.ts';
import type { RecordedRequest, UpstreamScript } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** Stock clients of embeddings, as their users run them. */

// As for other tools: only if it is asked for.
const ASKED = {
  Python: process.env['PURSER_TEST_PYTHON'] !== undefined,
  Node: process.env['PURSER_TEST_NODE_CLIENTS'] !== undefined,
};
const installed = EMBEDDERS.filter((each) => ASKED[each.language] && toolVersion(each) !== undefined);
const HOW_TO_RUN = 'not run: `npm run proofs -- clients` installs and runs them';
const FUNDS = 1_000_000;
const TOKENS = 7;
const CHARGE = chargeFor({ prompt: TOKENS, completion: 0 });
const TEXTS = ['The sea is cold.', 'The hill is green.'];
const QUERY = 'Where is the sea?';

for (const { name } of EMBEDDERS.filter((each) => !installed.includes(each))) test(name, { skip: HOW_TO_RUN });

if (installed.length > 0) await testEmbedders(installed);

/** Numbers that four bytes hold, so that base64 loses nothing. */
function vectorOf(text: string): readonly number[] {
  return [text.includes('sea') ? 1 : 0, text.includes('hill') ? 1 : 0, 0.25, text.length / 1_024];
}

/** Base64 even where numbers are asked for, as some providers answer: a client that wants numbers takes nothing else. */
function answer({ body }: RecordedRequest): UpstreamScript {
  const { input } = body as { input: string | readonly string[] };
  const data = [input].flat().map((text, index) => {
    const embedding = Buffer.from(Float32Array.from(vectorOf(text)).buffer).toString('base64');
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: TOKENS, total_tokens: TOKENS };
  return { body: JSON.stringify({ object: 'list', data, model: 'vectors-upstream', usage }) };
}

async function testEmbedders(embedders: readonly Embedder[]): Promise<void> {
  const { service, upstream, app, newUser } = await setStage({ checksBooks: true, catalogue: withVectors });
  const orderOf = async ({ isBound }: Embedder, user: string) => {
    const key = isBound === true ? (await addBoundKey(service.database, app, user)).apiKey : app.liveKey;
    return { baseUrl: `${service.url}/v1`, key, user, texts: TEXTS, query: QUERY, dimensions: 4 };
  };

  describe('clients of embeddings', () => {
    for (const each of embedders) {
      test(`WI-11 ${each.name} gets its vectors, and each call is charged once`, async () => {
        assert.equal(toolVersion(each), each.seenWith);
        const user = await newUser(FUNDS);
        upstream.script(answer);
        const { vectors, found, failure } = await runScript<Embedded>(each, await orderOf(each, user));
        assert.equal(failure, null);
        if (found !== undefined) assert.equal(found[0], TEXTS[0]);
        else assert.deepEqual(vectors, [...TEXTS, QUERY].map(vectorOf));
        assert.deepEqual(await service.wallet(app, user), {
          balance: FUNDS - each.calls * CHARGE,
          held: 0,
          openStreams: 0,
        });
      });

      test(`ER-07 ${each.name} shows why vectors without money are refused`, async () => {
        const { failure } = await runScript<Embedded>(each, await orderOf(each, 'poor'));
        assert.match(failure ?? '', each.shows);
      });
    }
  });
}
