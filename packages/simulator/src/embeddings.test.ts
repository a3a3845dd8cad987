import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { createSimulator, listenOnLoopback } from './simulator.ts';

const server = createSimulator();
const baseURL = `http://127.0.0.1:${await listenOnLoopback(server, 0)}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'anything', maxRetries: 0, logLevel: 'off' });
const model = 'sim-embed';

after(() => {
  server.close();
  server.closeAllConnections();
});

function likeness(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}

test('OP-01 vectors of similar texts are near each other', async () => {
  const input = ['The purser keeps the money.', 'Who keeps the money? The purser!', 'Gulls cry over grey harbours.'];
  const { data, usage } = await client.embeddings.create({ model, input });
  const [first = [], second = [], third = []] = data.map(({ embedding }) => embedding);
  assert.deepEqual(
    data.map(({ index, embedding }) => [index, embedding.length, Math.round(1e5 * likeness(embedding, embedding))]),
    [0, 1, 2].map((index) => [index, 1_536, 1e5]),
  );
  assert.ok(likeness(first, second) > 0.8, String(likeness(first, second)));
  assert.ok(likeness(first, third) < 0.2, String(likeness(first, third)));
  assert.deepEqual(usage, { prompt_tokens: 23, total_tokens: 23 }); // 7, 8 and 8 tokens of four characters.
});

test('OP-01 vectors come in the size and encoding that were asked for', async () => {
  for (const input of ['!?', [1, 2, 3], [[1], [2, 2]]]) {
    const asked = { model, input, dimensions: 3 };
    const numbers = await client.embeddings.create({ ...asked, encoding_format: 'float' });
    const packed = await client.embeddings.create({ ...asked, encoding_format: 'base64' });
    const read = packed.data.map(({ embedding }) => {
      const bytes = Buffer.from(embedding, 'base64');
      return [0, 4, 8].map((place) => bytes.readFloatLE(place));
    });
    assert.deepEqual(
      read,
      numbers.data.map(({ embedding }) => embedding.map(Math.fround)),
    );
    assert.equal(numbers.usage.prompt_tokens, typeof input === 'string' ? 1 : 3);
  }
});

test('OP-01 malformed requests for vectors name their field', async () => {
  for (const [fields, param] of [
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', ''] }, 'input'],
    [{ input: [[-1]] }, 'input'],
    [{}, 'input'],
    [{ input: 'a', dimensions: 1_537 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
  ] as const) {
    const asked = { model, ...fields } as OpenAI.EmbeddingCreateParams;
    await assert.rejects(client.embeddings.create(asked), { status: 400, param });
  }
  const missing = { status: 404, code: 'model_not_found' };
  await assert.rejects(client.embeddings.create({ model: 'sim-echo', input: 'a' }), missing);
  const messages = [{ role: 'user' as const, content: 'a' }];
  await assert.rejects(client.chat.completions.create({ model, messages }), missing);
});
