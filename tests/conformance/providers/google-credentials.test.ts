import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { SUBJECT_TOKEN, startTokenServer, type TokenServer } from './gemini/token-server.ts';
import { fetchAccessToken } from '../../../packages/service/src/providers/google/credentials.ts';
import { GOOGLE_TOKEN_URI, tokenFetch } from '../../../packages/service/src/providers/google/token-transport.ts';
import { UpstreamError, type UpstreamErrorKind } from '../../../packages/service/src/providers/port/provider.ts';
import { createVendorHttp } from '../../../packages/service/src/providers/transport/vendor-fetch.ts';

const http = createVendorHttp();
const ours = { http, project: 'shop-1', environment: {} };
const directory = mkdtempSync(join(tmpdir(), 'purser-google-'));
const subjectFile = join(directory, 'subject-token');
let server: TokenServer;

before(async () => {
  server = await startTokenServer();
});
after(async () => {
  http.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

function tokenOf(definition: unknown) {
  const credentialsFile = join(directory, 'credentials.json');
  writeFileSync(credentialsFile, typeof definition === 'string' ? definition : JSON.stringify(definition));
  return fetchAccessToken({ ...ours, credentialsFile });
}

async function failureOf(definition: unknown, kind: UpstreamErrorKind, message: RegExp): Promise<void> {
  await assert.rejects(tokenOf(definition), (fault) => {
    assert.ok(fault instanceof UpstreamError, String(fault));
    assert.deepEqual([fault.kind, message.test(fault.message)], [kind, true], fault.message);
    assert.doesNotMatch(inspect(fault), /CANARY|PRIVATE KEY|assertion/);
    return true;
  });
}

test('MO-09 a service account signs a JWT for its token', async () => {
  const { token, expiresAt } = await tokenOf(server.serviceAccount);
  assert.ok(server.takesToken(token));
  const left = expiresAt - Date.now();
  assert.ok(left > 3_500_000 && left <= 3_600_000, `${left} ms left`);
});

test('MO-09 a workload identity exchanges the token in its file', async () => {
  writeFileSync(subjectFile, SUBJECT_TOKEN);
  for (const [isImpersonated, wanted] of [
    [false, ['workload']],
    [true, ['workload', 'impersonation']],
  ] as const) {
    const before = server.requests.length;
    const { token, expiresAt } = await tokenOf(server.workloadIdentity(subjectFile, isImpersonated));
    assert.ok(server.takesToken(token));
    assert.ok(expiresAt > Date.now() + 3_500_000);
    assert.deepEqual(server.requests.slice(before), wanted);
    assert.deepEqual([...server.agents], ['purser/1'], 'the library sends nothing by its own HTTP');
  }
});

test('MO-09 a workload identity may fetch its machine’s token', async () => {
  const { token } = await tokenOf(server.workloadIdentityAtAddress());
  assert.ok(server.takesToken(token));
});

test('MO-09 a token request keeps its method', async (t) => {
  const methods: unknown[] = [];
  const metadata = createServer(({ method, headers }, response) => {
    methods.push(method, headers['x-aws-ec2-metadata-token-ttl-seconds']);
    response.end('the token');
  });
  t.after(() => metadata.close());
  metadata.listen(0, '127.0.0.1');
  await once(metadata, 'listening');
  const url = `http://127.0.0.1:${(metadata.address() as AddressInfo).port}/latest/api/token`;
  const fetch = tokenFetch(http, GOOGLE_TOKEN_URI);
  const reply = await fetch(url, { method: 'PUT', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' } });
  assert.deepEqual([await reply.text(), ...methods], ['the token', 'PUT', '300']);
});

test('MO-09 ER-03 refused or unusable credentials are `unauthorized`, in our words', async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await failureOf(
    { ...server.serviceAccount, private_key: privateKey },
    'unauthorized',
    /refused our credentials \(400\)/,
  );
  await failureOf({ ...server.serviceAccount, client_email: 'a@b.test' }, 'unauthorized', /refused our credentials/);
  await failureOf({ ...server.serviceAccount, private_key: undefined }, 'unauthorized', /has no `private_key`/);
  await failureOf(
    { ...server.serviceAccount, private_key: 'CANARY' },
    'unauthorized',
    /^The credentials cannot be used/,
  );
  await failureOf(server.workloadIdentity(join(directory, 'none')), 'unauthorized', /^The credentials cannot be used/);
  await failureOf({ type: 'authorized_user' }, 'unauthorized', /neither of a service account/);
  await failureOf('CANARY', 'unauthorized', /is not JSON/);
  writeFileSync(subjectFile, 'stolen');
  await failureOf(server.workloadIdentity(subjectFile), 'unauthorized', /refused our credentials \(400\)/);
  const missing = fetchAccessToken({ ...ours, credentialsFile: join(directory, 'none.json') });
  await assert.rejects(missing, { kind: 'unauthorized', message: 'The credentials file cannot be read.' });
});

test('MO-09 ER-03 a failing token endpoint is an outage at once', async () => {
  const before = server.requests.length;
  for (const failure of [500, 503, 'reset'] as const) {
    server.failWith(failure);
    await failureOf(
      server.serviceAccount,
      'outage',
      /^(The token endpoint failed \(50[03]\)|The endpoint for credentials could not be reached)\.$/,
    );
  }
  server.failWith(undefined);
  assert.equal(server.requests.length - before, 3, 'nothing is retried');
});
