import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { providerKeysSchema } from '@purser/contract/provider-keys.ts';
import { createEntraKey } from '#providers/keys/entra-key.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** A server that gives tokens as Microsoft documents them, to those who prove who they are. */

const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-entra-'));
const assertionFile = path.join(folder, 'assertion');
writeFileSync(assertionFile, 'the.clusters.token');
const SECRET = 'the client secret';
const SCOPE = 'https://cognitiveservices.azure.com/.default';
let tokens = 0;

const server = createServer((request, response) => {
  void answerTo(request).then(([status, body]) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

async function answerTo(request: IncomingMessage): Promise<[status: number, body: unknown]> {
  const url = new URL(request.url ?? '', authority);
  const query = Object.fromEntries(url.searchParams);
  const resource = 'https://cognitiveservices.azure.com';
  if (url.pathname === '/metadata/identity/oauth2/token') {
    const isRight = request.headers['metadata'] === 'true' && request.method === 'GET';
    if (!isRight || query['api-version'] !== '2018-02-01' || query['resource'] !== resource) return [400, {}];
    return [200, { access_token: `machine-${query['client_id'] ?? 'own'}`, expires_in: '86399', token_type: 'Bearer' }];
  }
  if (url.pathname === '/msi/token') {
    const isRight = request.headers['x-identity-header'] === 'the header' && query['api-version'] === '2019-08-01';
    if (!isRight || query['resource'] !== resource) return [400, {}];
    return [200, { access_token: 'app-service', expires_on: String(Math.ceil(Date.now() / 1000) + 3_600) }];
  }
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  const isClient =
    url.pathname === '/the-tenant/oauth2/v2.0/token' &&
    request.method === 'POST' &&
    form['grant_type'] === 'client_credentials' &&
    form['client_id'] === 'the-client' &&
    form['scope'] === SCOPE;
  const isProved =
    form['client_secret'] === SECRET ||
    (form['client_assertion'] === 'the.clusters.token' &&
      form['client_assertion_type'] === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  if (isClient && isProved) return [200, { access_token: `token-${(tokens += 1)}`, expires_in: 3_599 }];
  return [
    401,
    { error: 'invalid_client', error_description: `AADSTS7000215 ${form['client_secret']}`, error_codes: [7000215] },
  ];
}

const VARIABLES: Readonly<Record<string, string>> = { CLIENT_SECRET: SECRET, WRONG_SECRET: 'wrong' };
const readEnvironment = (name: string) => VARIABLES[name];

function keyOf(entra: object, environment: Readonly<Record<string, string>> = {}, clock = { nowMs: () => 0 }) {
  const { key } = providerKeysSchema.parse({ key: { entra, hosts: ['*.openai.azure.com'] } });
  assert.ok(key !== undefined && 'entra' in key);
  return createEntraKey({ name: 'key', entra: key.entra, readEnvironment, environment, clock });
}

const client = { tenant: 'the-tenant', client: 'the-client', authority };

test('MO-09 MO-11 an Entra client gets and renews tokens by its secret', async () => {
  let now = 0;
  const key = keyOf({ ...client, secretEnv: 'CLIENT_SECRET' }, {}, { nowMs: () => now });
  const [first, second] = await Promise.all([Promise.resolve(key.current()), Promise.resolve(key.current())]);
  assert.match(first, /^token-\d+$/);
  assert.equal(second, first, 'simultaneous calls share one request');
  assert.ok(key.isToken);
  now = 3_599_000 - 120_000 - 1;
  assert.equal(key.current(), first, 'while the new token is fetched, the old one serves');
  now = 3_599_000 - 120_000;
  assert.notEqual(await key.current(), first);
});

test('MO-09 MO-11 workloads and machines get tokens by their identity', async () => {
  assert.match(await keyOf({ ...client, assertionFile }).current(), /^token-\d+$/);
  const machine = { AZURE_POD_IDENTITY_AUTHORITY_HOST: authority, HTTP_PROXY: 'http://127.0.0.1:1' };
  assert.equal(await keyOf({ managedIdentity: true }, machine).current(), 'machine-own');
  assert.equal(await keyOf({ managedIdentity: true, client: 'mine' }, machine).current(), 'machine-mine');
  const appService = { IDENTITY_ENDPOINT: `${authority}/msi/token`, IDENTITY_HEADER: 'the header' };
  assert.equal(await keyOf({ managedIdentity: true }, appService).current(), 'app-service');
});

test('MO-11 token requests use the proxy, except for excepted hosts', async (t) => {
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    tunnels.push(String(url));
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  t.after(() => proxy.close());
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const far = { ...client, authority: 'https://login.entra.invalid', secretEnv: 'CLIENT_SECRET' };
  for (const [HTTPS_PROXY, NO_PROXY] of [
    [`http://${address}`, 'entra.invalid'],
    [`http://${address}`, 'other.invalid'],
    [address, ''],
  ] as const) {
    const key = keyOf(far, { HTTPS_PROXY, NO_PROXY });
    await assert.rejects(async () => key.current(), /no token could be requested\.$/);
    tunnels.push(';');
  }
  const host = 'login.entra.invalid:443';
  assert.deepEqual(tunnels, [';', host, ';', host, ';']);
});

test('MO-11 a refused token request is an outage that repeats only a number', async () => {
  const cases = [
    [{ ...client, secretEnv: 'WRONG_SECRET' }, /answered with 401 \(AADSTS7000215\)\.$/],
    [{ ...client, secretEnv: 'UNSET_SECRET' }, /the variable `UNSET_SECRET` is not set\.$/],
    [{ ...client, assertionFile: path.join(folder, 'none') }, /its file cannot be read\.$/],
    [{ ...client, authority: 'http://127.0.0.1:1', secretEnv: 'CLIENT_SECRET' }, /no token could be requested\.$/],
  ] as const;
  for (const [entra, words] of cases) {
    await assert.rejects(
      async () => keyOf(entra).current(),
      (fault) => fault instanceof UpstreamError && fault.kind === 'outage' && words.test(fault.message),
    );
  }
});
