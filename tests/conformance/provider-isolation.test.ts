import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setStage } from '../support/stage.ts';
import { COMPLETIONS, httpSend, type Reply } from '../support/client.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
} from '../support/scripted-upstream.ts';

const PROXY_PASSWORD = 'the-password-of-the-proxy';
const PROVIDER_KEY = 'sk-the-provider-key';
const OTHER_KEY = 'sk-another-providers-key';

const keyless = await startScriptedUpstream();
const proxy = await startProxy(() => keyed);
after(async () => {
  await keyless.close();
  proxy.close();
});
const {
  upstream: keyed,
  service,
  app,
} = await setStage({
  environment: {
    KEYED_KEY: PROVIDER_KEY,
    OTHER_KEY,
    HTTP_PROXY: `http://me:${PROXY_PASSWORD}@127.0.0.1:${proxy.port}`,
  },
  catalogue: ({ providers, models, aliases }) => {
    const { baseUrl } = providers.upstream;
    return {
      providers: {
        upstream: { kind: 'openai-compatible', baseUrl: `${baseUrl}/`, apiKeyEnv: 'KEYED_KEY' },
        keyless: { kind: 'openai-compatible', baseUrl: keyless.baseUrl },
        special: {
          kind: 'openai-compatible',
          baseUrl: baseUrl,
          apiKeyEnv: 'KEYED_KEY',
          authHeader: 'x-vendor-key',
          path: '/chat/vendor.v2',
          query: { 'api-version': '2026-01 preview' },
          headers: { 'openai-organization': 'org-mine', 'http-referer': 'https://purser.test/' },
          extraBody: { top_k: 5 },
          streamOptions: false,
          developerRole: 'system',
        },
        distant: { kind: 'openai-compatible', baseUrl: 'http://api.distant.test/v1', apiKeyEnv: 'KEYED_KEY' },
        other: { kind: 'openai-compatible', baseUrl: keyless.baseUrl, apiKeyEnv: 'OTHER_KEY' },
      },
      models: [
        ...models,
        { ...models[0], id: 'acme.keyless-1', provider: 'keyless' },
        { ...models[0], id: 'acme.other-1', provider: 'other' },
        { ...models[0], id: 'acme.special-1', provider: 'special' },
        { ...models[0], id: 'acme.distant-1', provider: 'distant' },
      ],
      aliases,
    };
  },
});
service.keepSecret(PROXY_PASSWORD);
await service.fund(app, 'CANARY-user', 1_000_000);

/** An HTTP proxy that opens every tunnel, and leads all of them to one upstream. */
async function startProxy(upstream: () => { readonly baseUrl: string }) {
  const heads: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    open.add(caller);
    caller.on('error', () => {});
    caller.once('data', (head) => {
      heads.push(head.toString('latin1'));
      const { hostname, port } = new URL(upstream().baseUrl);
      const onward = connect(Number(port), hostname);
      open.add(onward);
      onward.on('error', () => {});
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n');
      caller.pipe(onward).pipe(caller);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** What it was asked. */
    heads,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Everything that a caller, its library and the proxies in front of us may send. */
const CALLER_HEADERS = {
  'x-service-user': 'CANARY-user',
  'x-correlation-id': 'CANARY-correlation',
  cookie: 'CANARY=1',
  'user-agent': 'CANARY/1',
  origin: 'https://CANARY.test',
  referer: 'https://CANARY.test/',
  forwarded: 'for=CANARY',
  'x-forwarded-for': 'CANARY',
  'x-real-ip': 'CANARY',
  'x-api-key': 'CANARY',
  'api-key': 'CANARY',
  'openai-organization': 'CANARY',
  'openai-project': 'CANARY',
  'x-stainless-lang': 'CANARY',
  'x-stainless-retry-count': '0',
  traceparent: 'CANARY',
  'accept-language': 'CANARY',
  'accept-encoding': 'gzip, br, x-CANARY',
  accept: 'application/CANARY',
  'x-service-mode': 'CANARY',
  expect: '100-continue',
};

function ask(fields: Readonly<Record<string, unknown>>): Promise<Reply> {
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], ...fields });
  const headers = {
    ...CALLER_HEADERS,
    authorization: `Bearer ${app.liveKey}`,
    'content-type': 'application/json; x=CANARY',
  };
  return httpSend(service.url, { method: 'POST', path: `${COMPLETIONS}?CANARY=1`, headers, body });
}

const USAGE = { prompt_tokens: 3, completion_tokens: 3 };
const PROVIDER_HEADERS = {
  'set-cookie': ['CANARY=1', 'CANARY=2'],
  server: 'CANARY',
  'x-request-id': 'CANARY',
  'x-correlation-id': 'CANARY',
  'openai-organization': 'CANARY',
  'openai-processing-ms': 'CANARY',
  'x-ratelimit-remaining-requests': 'CANARY',
  'x-service-mode': 'CANARY',
  'x-service-charge-micros': '888888',
  ratelimit: '"CANARY";r=0;t=7777',
  'retry-after': '7777',
  'cache-control': 'public, CANARY',
  'access-control-allow-origin': 'CANARY',
  'strict-transport-security': 'CANARY',
  'x-should-retry': 'CANARY',
  via: 'CANARY',
};

function answer(upstream: ScriptedUpstream): void {
  upstream.script(({ body }) => {
    const isStream = (body as Record<string, unknown>)['stream'] === true;
    const facts = { model: 'm', usage: USAGE };
    return isStream
      ? {
          headers: { ...PROVIDER_HEADERS, 'content-type': 'text/event-stream; x=CANARY' },
          body: streamSteps({ ...facts, pieces: ['Hi'], includeUsageChunk: true }),
        }
      : {
          headers: { ...PROVIDER_HEADERS, 'content-type': 'application/json; x=CANARY' },
          body: completionBody({ ...facts, content: 'Hi' }),
        };
  });
}

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'buffered';

  test(`CC-13 a provider receives none of the caller’s headers with a ${kind} call`, async () => {
    answer(keyed);
    const reply = await ask({ stream });
    assert.equal(reply.status, 200, reply.text);
    const request = keyed.requests.at(-1);
    assert.equal(request?.method, 'POST');
    assert.equal(request.path, '/v1/chat/completions');
    const { host, 'content-length': length, connection: _, ...headers } = request.headers;
    assert.deepEqual(headers, {
      authorization: `Bearer ${PROVIDER_KEY}`,
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'purser/1',
    });
    assert.equal(host, new URL(keyed.baseUrl).host);
    assert.equal(length, String(request.rawBody.length));
    const all = JSON.stringify(request.headers) + request.rawBody.toString();
    for (const secret of ['CANARY', app.liveKey, app.appId, OTHER_KEY]) assert.ok(!all.includes(secret), secret);
  });

  test(`CC-13 MO-11 a ${kind} call reaches its vendor as the entry says`, async () => {
    answer(keyed);
    const messages = [{ role: 'developer', content: 'Be brief.' }];
    const reply = await ask({ model: 'acme.special-1', messages, stream });
    assert.equal(reply.status, 200, reply.text);
    const request = keyed.requests.at(-1);
    assert.equal(request?.path, '/v1/chat/vendor.v2?api-version=2026-01+preview');
    const { authorization, 'x-vendor-key': key, 'openai-organization': organization, ...rest } = request.headers;
    assert.deepEqual([authorization, key, organization], [undefined, PROVIDER_KEY, 'org-mine']);
    assert.equal(rest['http-referer'], 'https://purser.test/');
    const { max_completion_tokens: _, ...body } = request.body as Record<string, unknown>;
    assert.deepEqual(body, {
      model: 'large-upstream',
      messages: [{ role: 'system', content: 'Be brief.' }],
      top_k: 5,
      ...(stream ? { stream: true } : {}),
    });
  });

  test(`CC-13 a ${kind} call goes through the environment’s proxy`, async () => {
    answer(keyed);
    const reply = await ask({ model: 'acme.distant-1', stream });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(proxy.heads.length, 1, 'a tunnel is kept, and this machine is reached without one');
    const credentials = Buffer.from(`me:${PROXY_PASSWORD}`).toString('base64');
    assert.equal(
      proxy.heads[0],
      `CONNECT api.distant.test:80 HTTP/1.1\r\nhost: api.distant.test:80\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
    );
    const request = keyed.requests.at(-1);
    assert.deepEqual(
      [request?.headers.host, request?.headers.authorization, request?.headers['proxy-authorization']],
      ['api.distant.test', `Bearer ${PROVIDER_KEY}`, undefined],
    );
  });

  test(`CC-13 with a ${kind} call, no provider gets another’s key`, async () => {
    answer(keyless);
    await ask({ model: 'acme.keyless-1', stream });
    assert.equal(keyless.requests.at(-1)?.headers.authorization, undefined);
    await ask({ model: 'acme.other-1', stream });
    assert.equal(keyless.requests.at(-1)?.headers.authorization, `Bearer ${OTHER_KEY}`);
  });

  test(`ER-03 no provider header reaches the caller with a ${kind} answer`, async () => {
    answer(keyed);
    const reply = await ask({ stream });
    assert.equal(reply.status, 200, reply.text);
    const ours = ['content-type', 'date', 'connection', 'x-correlation-id', 'x-request-id', 'x-service-call-id'];
    const limit = [
      'ratelimit',
      'ratelimit-policy',
      ...['limit', 'remaining', 'reset'].map((one) => `x-ratelimit-${one}-requests`),
    ];
    const plainOnly = ['content-length', 'x-service-charge-micros'];
    const streamOnly = ['cache-control', 'transfer-encoding', 'x-accel-buffering'];
    const expected = [...ours, ...limit, ...(stream ? streamOnly : plainOnly)].toSorted();
    assert.deepEqual([...reply.headers.keys()].toSorted(), expected);
    const { 'x-correlation-id': mine } = CALLER_HEADERS;
    assert.equal(reply.headers.get('x-correlation-id'), mine);
    const rest = JSON.stringify([...reply.headers]).replaceAll(mine, '');
    assert.doesNotMatch(rest, /CANARY|7777|888888/);
  });
}

test('CC-13 a sandbox call reaches no provider', async () => {
  const counts = [keyed.requests.length, keyless.requests.length];
  for (const model of ['large', 'acme.keyless-1', 'acme.other-1']) {
    const headers = { authorization: `Bearer ${app.testKey}`, 'x-service-user': 'u' };
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], stream: true });
    const reply = await httpSend(service.url, { method: 'POST', path: COMPLETIONS, headers, body });
    assert.equal(reply.status, 200, reply.text);
  }
  assert.deepEqual([keyed.requests.length, keyless.requests.length], counts);
});
