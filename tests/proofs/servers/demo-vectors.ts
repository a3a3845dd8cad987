import assert from 'node:assert/strict';
import OpenAI from 'openai';

/** Makes vectors with the demo's model of embeddings, by a stock client. */
export async function embedWithDemo(
  url: string,
  { key, user }: { readonly key: string; readonly user: string },
): Promise<void> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, defaultHeaders: { 'x-service-user': user } });
  const input = ['Where is the purser?', 'The purser is here.'];
  const { data, model, usage } = await client.embeddings.create({ model: 'demo-embed', input, dimensions: 64 });
  assert.deepEqual([model, data.map(({ embedding }) => embedding.length)], ['purser.demo-embed-1', [64, 64]]);
  assert.ok(usage.prompt_tokens > 0);
}
