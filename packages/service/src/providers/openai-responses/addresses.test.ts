import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import { fromAzureEntry } from '#providers/azure/from-entry.ts';
import { fromMistralEntry } from '#providers/mistral/from-entry.ts';
import { fromCompatibleEntry } from '#providers/compatible-entry.ts';
import type { Api, Provider } from '#providers/port/provider.ts';

type Entry<Kind> = Extract<CatalogueProvider, { kind: Kind }>;

/** Where a call goes. */
async function addressOf(make: (http: HttpClient) => Provider, apis: readonly Api[], native?: Api): Promise<string> {
  let address = '';
  const http: HttpClient = {
    endpoint: (url) => {
      address = url.href;
      throw new Error('The test sends nothing.');
    },
    close: () => {},
  };
  const call = {
    request: { messages: [] },
    requestText: '{}',
    providerModel: 'm',
    apis,
    native: native && { api: native, text: '{}' },
    outputTokens: 16,
    outputLimitParameter: 'max_tokens',
    timeoutMs: 1_000,
  } as const;
  await assert.rejects(make(http).complete(call));
  return address;
}

const compatible = (more: Partial<Entry<'openai-compatible'>>) => (http: HttpClient) =>
  fromCompatibleEntry(
    http,
    { kind: 'openai-compatible', baseUrl: 'https://llm.test/v1/', onAbandon: 'cancel', ...more },
    undefined,
  );
const azure = (more: Partial<Entry<'azure'>>) => (http: HttpClient) =>
  fromAzureEntry(http, { kind: 'azure', endpoint: 'https://my.test', onAbandon: 'drain', ...more }, undefined);
const mistral = (http: HttpClient) =>
  fromMistralEntry(http, { kind: 'mistral', baseUrl: 'https://mistral.test/v1/', onAbandon: 'drain' }, undefined);

test('WI-03 Responses are beside chat completions, wherever those are', async () => {
  const alone: readonly Api[] = ['responses'];
  const query = { 'api-version': '2' };
  for (const [make, address] of [
    [compatible({}), 'https://llm.test/v1/responses'],
    [compatible({ path: '/v2/chat/completions', query }), 'https://llm.test/v1/v2/responses?api-version=2'],
    [compatible({ path: '/v2/responses' }), 'https://llm.test/v1/v2/responses'],
    [compatible({ path: '/talk' }), 'https://llm.test/v1/responses'],
    [azure({}), 'https://my.test/openai/v1/responses'],
    [azure({ apiVersion: 'preview' }), 'https://my.test/openai/v1/responses?api-version=preview'],
    [azure({ deployments: true, apiVersion: '2024-10-21' }), 'https://my.test/openai/v1/responses'],
  ] as const) {
    assert.equal(await addressOf(make, alone), address);
  }
});

const at = async (apis: readonly Api[], native?: Api) =>
  (await addressOf(compatible({}), apis, native)).replace('https://llm.test/v1', '');

test('WI-02 a call goes by Responses for its caller, or where nothing else is served', async () => {
  assert.equal(await at(['chat']), '/chat/completions');
  assert.equal(await at(['chat'], 'responses'), '/chat/completions');
  assert.equal(await at(['chat', 'responses']), '/chat/completions');
  assert.equal(await at(['chat', 'responses'], 'responses'), '/responses');
  assert.equal(await at(['responses'], 'chat'), '/responses');
});

test('WI-11 embeddings are beside chat completions, wherever those are', async () => {
  const query = { 'api-version': '2' };
  for (const [make, address] of [
    [compatible({}), 'https://llm.test/v1/embeddings'],
    [compatible({ path: '/v2/chat/completions', query }), 'https://llm.test/v1/v2/embeddings?api-version=2'],
    [compatible({ path: '/v2/embeddings' }), 'https://llm.test/v1/v2/embeddings'],
    [mistral, 'https://mistral.test/v1/embeddings'],
    [azure({}), 'https://my.test/openai/v1/embeddings'],
    [azure({ deployments: true }), 'https://my.test/openai/deployments/m/embeddings?api-version=2024-10-21'],
  ] as const) {
    assert.equal(await addressOf(make, ['embeddings'], 'embeddings'), address);
  }
});
