import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type GeminiServer, startGeminiServer } from './gemini/server.ts';
import { SUBJECT_TOKEN, startTokenServer, type TokenServer } from './gemini/token-server.ts';
import { FAILURES, type Json } from './gemini/wire.ts';
import { createHttpClient } from '../../../packages/upstream-http/src/client.ts';
import { providerSchema, vertexAddress } from '../../../packages/contract/src/catalogue-providers.ts';
import { createVertex } from '../../../packages/service/src/providers/google/vertex.ts';
import { fixedKey, type KeySource } from '../../../packages/service/src/providers/keys/key-source.ts';
import type { Provider } from '../../../packages/service/src/providers/port/provider.ts';
import { createVendorHttp } from '../../../packages/service/src/providers/transport/vendor-fetch.ts';

const http = createVendorHttp();
const client = createHttpClient();
const directory = mkdtempSync(join(tmpdir(), 'purser-vertex-'));
const credentialsFile = join(directory, 'credentials.json');
let tokens: TokenServer;
let server: GeminiServer;

before(async () => {
  tokens = await startTokenServer();
  const { takesToken } = tokens;
  server = await startGeminiServer({ vertex: { project: 'shop-1', location: 'europe-west4', takesToken } });
  writeFileSync(credentialsFile, JSON.stringify(tokens.serviceAccount));
});
after(async () => {
  http.close();
  client.close();
  await Promise.all([server.close(), tokens.close()]);
  rmSync(directory, { recursive: true });
});

function vertex(file: string = credentialsFile): Provider {
  return vertexWith({ credentialsFile: file });
}

function vertexOfEnvironment(): Provider {
  return vertexWith({});
}

function vertexWith(
  credentials: { readonly credentialsFile?: string },
  key?: KeySource,
  outside: Pick<Parameters<typeof createVertex>[0], 'http' | 'environment'> = { http, environment: {} },
): Provider {
  const place = { kind: 'vertex', project: 'shop-1', location: 'europe-west4', endpoint: server.origin };
  const definition = providerSchema.parse({ ...place, ...credentials });
  assert.equal(definition.kind, 'vertex');
  return createVertex({ ...outside, client, definition, key });
}

const HELLO = { parts: [{ text: 'Good morning.' }], usage: { promptTokenCount: 3, candidatesTokenCount: 2 } };

async function ask(provider: Provider, request: Json = {}): Promise<unknown> {
  const messages = request['messages'] ?? [{ role: 'user', content: 'Hello' }];
  const providerModel = 'gemini-2.5-pro';
  const limit = { outputTokens: 500, outputLimitParameter: 'max_completion_tokens', timeoutMs: 60_000 } as const;
  const call = { request: { ...request, messages }, requestText: '', providerModel, ...limit };
  const { choices } = await provider.complete(call);
  return choices[0]?.message['content'];
}

test('MO-09 Vertex calls share one token until it is refused', async () => {
  server.script(HELLO);
  const provider = vertex();
  const before = tokens.requests.length;
  assert.deepEqual(await Promise.all([ask(provider), ask(provider)]), ['Good morning.', 'Good morning.']);
  assert.deepEqual(tokens.requests.slice(before), ['service-account']);
  const { headers, path } = server.requests.at(-1)!;
  assert.match(path, /^\/v1\/projects\/shop-1\/locations\/europe-west4\/publishers\/google\/models\/gemini-2.5-pro:/);
  assert.deepEqual([headers['x-goog-api-key'], headers.authorization?.slice(0, 12)], [undefined, 'Bearer ya29.']);
  const token = headers.authorization?.slice('Bearer '.length) ?? '';
  assert.equal(await ask(vertexWith({}, fixedKey('a token of the settings', token))), 'Good morning.');
  tokens.expireAll();
  await assert.rejects(ask(provider), { kind: 'unauthorized', status: 401 });
  assert.equal(await ask(provider), 'Good morning.');
  assert.equal(tokens.requests.length - before, 2);
});

test('MO-09 an expired token is not sent again', async () => {
  server.script(HELLO);
  tokens.setLifetime(1);
  const provider = vertex();
  const before = tokens.requests.length;
  for (let call = 0; call < 3; call += 1) assert.equal(await ask(provider), 'Good morning.');
  assert.equal(tokens.requests.length - before, 3, 'none of them was good for ten seconds more');
  tokens.setLifetime(3_600);
});

test('MO-09 a workload identity from the environment’s file calls Vertex', async (t) => {
  server.script(HELLO);
  const subjectFile = join(directory, 'subject-token');
  const workloadFile = join(directory, 'workload.json');
  writeFileSync(subjectFile, SUBJECT_TOKEN);
  writeFileSync(workloadFile, JSON.stringify(tokens.workloadIdentity(subjectFile, true)));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = workloadFile;
  t.after(() => delete process.env['GOOGLE_APPLICATION_CREDENTIALS']);
  for (const provider of [vertex(workloadFile), vertexOfEnvironment()]) {
    const before = tokens.requests.length;
    assert.equal(await ask(provider), 'Good morning.');
    assert.deepEqual(tokens.requests.slice(before), ['workload', 'impersonation']);
  }
});

test('MO-09 MO-11 only tokens of the metadata server bypass the proxy', async (t) => {
  server.script(HELLO);
  const proxy = createServer().on('connect', ({ url }, socket) => {
    tunnels.push(String(url));
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const tunnels: string[] = [];
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const environment = { HTTPS_PROXY: address, HTTP_PROXY: address, GCE_METADATA_HOST: tokens.host };
  const outside = { http: createVendorHttp(environment), environment };
  // The library has proxies of its own, which it finds here.
  const before = { ...process.env };
  Object.assign(process.env, { ...environment, HOME: directory });
  t.after(() => {
    process.env = before;
    outside.http.close();
    proxy.close();
  });
  const asked = tokens.requests.length;
  const machine = vertexWith({}, undefined, outside);
  assert.equal(await ask(machine), 'Good morning.');
  assert.equal(await ask(machine), 'Good morning.');
  assert.deepEqual([tokens.requests.slice(asked), tunnels], [['machine'], []]);
  const { token_uri: _, ...ofGoogle } = tokens.serviceAccount;
  const file = join(directory, 'google.json');
  writeFileSync(file, JSON.stringify(ofGoogle));
  await assert.rejects(ask(vertexWith({ credentialsFile: file }, undefined, outside)), { kind: 'outage' });
  assert.deepEqual(tunnels, ['oauth2.googleapis.com:443']);
});

test('MO-09 CC-09 a failing token endpoint is an outage, a refusing one `unauthorized`', async () => {
  const provider = vertex();
  const before = server.requests.length;
  for (const [failure, kind] of [
    [503, 'outage'],
    ['reset', 'outage'],
    [401, 'unauthorized'],
  ] as const) {
    tokens.failWith(failure);
    await assert.rejects(ask(provider), { kind });
  }
  tokens.failWith(undefined);
  assert.equal(server.requests.length, before);
  server.script({ error: FAILURES.noPermission });
  await assert.rejects(ask(provider), { kind: 'unauthorized', status: 403 });
  server.script(HELLO);
  assert.equal(await ask(provider), 'Good morning.');
});

test('CC-13 Vertex gets tool calls without ids', async () => {
  server.script({ ...HELLO, parts: [{ functionCall: { name: 'weather', args: {} } }] });
  const tools = [{ type: 'function', function: { name: 'weather' } }];
  const call = { id: 'x', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  const messages = [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'x', content: 'sunny' },
  ];
  await ask(vertex(), { tools, messages, presence_penalty: 0.5 });
  const { contents, generationConfig } = server.bodyOf(-1) as { contents: Json[]; generationConfig: Json };
  assert.deepEqual(contents[1], {
    role: 'model',
    parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }],
  });
  assert.equal(generationConfig['presencePenalty'], 0.5);
});

test('MO-09 each location has the host that Google gives it', () => {
  assert.deepEqual(
    ['europe-west4', 'global', 'eu'].map((location) => vertexAddress({ location })),
    [
      'https://europe-west4-aiplatform.googleapis.com',
      'https://aiplatform.googleapis.com',
      'https://aiplatform.eu.rep.googleapis.com',
    ],
  );
});
