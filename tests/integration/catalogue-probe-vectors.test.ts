import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, GOOD_SERVER } from '../support/probed-server.ts';
import { foundIn, PROBED_MODEL, proposedIn, setProbing } from '../support/probing.ts';

/** The tests run `purser catalogue probe` on servers of embeddings. */

const { upstream, run } = await setProbing();
const PRICE = { inputMicrosPerMillion: 1_000_000, outputMicrosPerMillion: 0 };
const VECTORS = { apis: ['embeddings'], price: PRICE, maxOutputTokens: 1, dimensionsMax: 1_024 };

test('MO-13 a model of embeddings is asked for vectors alone', async (t) => {
  const { said: plan } = await run(t, [], VECTORS);
  assert.match(plan, /at most 3 calls\.\n {2}They cost at most 0\.0009 EUR\.\n/);
  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['embeddings'] }));
  const { status, said } = await run(t, ['--yes'], VECTORS);
  assert.equal(status, 0, said);
  assert.deepEqual(foundIn(said), {
    embeddings: 'yes: vectors of 1024 numbers',
    'usage of embeddings': 'yes: 4 tokens for a text',
    'several texts in a call': 'yes: a vector for each',
    'shorter vectors by `dimensions`': 'yes: 256 numbers',
  });
  assert.match(said, /The entry needs no change/);
  assert.deepEqual(
    upstream.requests.map(({ path }) => path),
    Array(3).fill('/v1/embeddings'),
  );
});

test('MO-13 a server of vectors alone is found behind an entry for text', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['embeddings'], reportsUsage: false, shortensVectors: false }));
  const { said } = await run(t, ['--yes']);
  const { 'chat completions': chat, 'usage of embeddings': usage, ...others } = foundIn(said);
  assert.deepEqual([chat?.slice(0, 3), usage], ['no:', 'no: Purser would count the tokens itself']);
  assert.equal(others['shorter vectors by `dimensions`'], 'no: it is ignored: 1024 numbers for 256');
  assert.deepEqual(proposedIn(said), { ...PROBED_MODEL, ...VECTORS });
});

test('MO-13 longer vectors than the entry says are proposed', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['embeddings'] }));
  const { said } = await run(t, ['--yes'], { ...VECTORS, dimensionsMax: 512 });
  assert.deepEqual(proposedIn(said), { ...PROBED_MODEL, ...VECTORS });
});

test('MO-13 the probe of a server without vectors says so', async (t) => {
  upstream.script(answerOf(GOOD_SERVER));
  const { status, said } = await run(t, ['--yes'], VECTORS);
  assert.equal(status, 1);
  assert.match(said, /Not probed\. The upstream rejects even the simplest call \(404\)/);
});
