import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Agent } from 'undici';
import { DOCTOR_HEADER, isDoctorToken, newDoctorToken, type SeenRequest } from '#kernel/crypto/doctor-call.ts';
import { judgeCertificate } from '#doctor/outside/certificate.ts';
import { tryDisk } from '#doctor/outside/disk-trial.ts';
import { tryProcessor } from '#doctor/outside/processor.ts';
import { tryProviders } from '#doctor/outside/providers.ts';
import { CLAIMED_ADDRESS, judgeForwarding, tryPublicAddress } from '#doctor/outside/public-address.ts';
import { judgeRoles } from '#doctor/outside/roles.ts';
import { judgeStrength } from '#doctor/outside/secret-strength.ts';
import { withinTime } from '#doctor/outside/within-time.ts';

const DAY_MS = 86_400_000;
const dispatcher = new Agent();
const leadingTo = () => dispatcher;
const signal = AbortSignal.timeout(60_000);

/** A server on this machine, and its address. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sight: SeenRequest = {
  address: '203.0.113.9',
  forwardedFor: [CLAIMED_ADDRESS, '203.0.113.9'],
  forwardedProto: 'https',
  host: 'pay.example.com',
  database: 'this one',
};

function judge(of: Partial<SeenRequest>, proxyHops: number): string {
  const { level, remedy } = judgeForwarding({ ...sight, ...of }, { proxyHops, publicUrl: 'https://pay.example.com' });
  return `${level} ${remedy ?? ''}`.trim();
}

test('OP-08 the doctor counts proxies and finds gateways that trust callers', () => {
  assert.equal(judge({}, 1), 'good');
  assert.equal(judge({ forwardedFor: ['203.0.113.9'] }, 1), 'good', 'this proxy replaces what callers say');
  assert.equal(judge({}, 0), 'warn Set PURSER_PROXY_HOPS to 1.');
  assert.equal(
    judge({ forwardedFor: [CLAIMED_ADDRESS, '203.0.113.9', '10.0.0.2'] }, 1),
    'warn Set PURSER_PROXY_HOPS to 2.',
  );
  assert.equal(judge({ address: CLAIMED_ADDRESS }, 2), 'bad Set PURSER_PROXY_HOPS to 1.');
  const bare = { address: CLAIMED_ADDRESS, forwardedFor: [CLAIMED_ADDRESS] };
  assert.match(judge(bare, 1), /^bad Let the proxy set `x-forwarded-for`/);
  assert.match(judge({ forwardedProto: 'http' }, 1), /^warn Let the proxy pass on/);
});

async function look(publicUrl: string, database = 'this one') {
  const found = await tryPublicAddress({ publicUrl, proxyHops: 0, token: 'a token', database, dispatcher }, signal);
  return [found['public-address'], found.forwarding, found['same-database']].map((one) => one?.level);
}

test('OP-08 the doctor tells its gateway from a wrong or dead one', async (t) => {
  let answer: unknown = { status: 'ok', seen: { ...sight, forwardedFor: [], forwardedProto: undefined } };
  let asked: string | undefined;
  const url = await serve(t, ({ url: target = '', headers }, response) => {
    asked = String(headers[DOCTOR_HEADER]);
    if (target.startsWith('/loop')) response.writeHead(302, { location: target }).end();
    else response.end(JSON.stringify(answer));
  });
  assert.deepEqual(await look(url), ['good', 'good', 'good']);
  assert.equal(asked, 'a token');
  assert.deepEqual(await look(url, 'another one'), ['good', 'good', 'bad']);
  assert.deepEqual(await look(`${url}/loop`), ['bad', undefined, undefined]);
  assert.deepEqual(await look('http://127.0.0.1:9'), ['warn', undefined, undefined]);
  answer = { status: 'ok' };
  assert.deepEqual(await look(url), ['bad', undefined, undefined], 'somebody else’s `/healthz`');
  const detour = await serve(t, (_, response) => response.writeHead(308, { location: `${url}/elsewhere` }).end());
  assert.deepEqual(await look(detour), ['warn', undefined, undefined]);
  assert.equal(asked, 'undefined', 'a redirect to another address does not get the token');
});

test('OP-08 only a secret holder can ask what arrived', () => {
  const keys = [Buffer.alloc(32, 1)] as const;
  const token = newDoctorToken(keys, DAY_MS * 20_000);
  assert.ok(isDoctorToken(token, keys, DAY_MS * 20_000));
  assert.ok(isDoctorToken(token, [Buffer.alloc(32, 2), keys[0]], DAY_MS * 20_000), 'during a change of the secret');
  assert.ok(!isDoctorToken(token, [Buffer.alloc(32, 2)], DAY_MS * 20_000));
  assert.ok(!isDoctorToken(token, keys, DAY_MS * 20_000 + 60_001));
  assert.ok(!isDoctorToken(token.replace(/^\d/, '2'), keys, DAY_MS * 20_000));
  for (const shown of [undefined, '', 'x', `${token}x`]) assert.ok(!isDoctorToken(shown, keys, DAY_MS * 20_000));
});

test('OP-08 an unanswered check ends in time and says so', async () => {
  const late = await withinTime(() => new Promise(() => {}), 20);
  assert.deepEqual(late, { failure: { level: 'warn', what: 'This check had no result within 0.02 s.' } });
  const failed = await withinTime(async () => Promise.reject(new TypeError('the key sk-live-1 was refused')), 20);
  assert.deepEqual(failed, { failure: { level: 'warn', what: 'This check failed: TypeError.' } });
});

test('OP-08 the doctor names unreachable providers and sends no key', async (t) => {
  const asked: unknown[] = [];
  const near = await serve(t, ({ headers }, response) => {
    asked.push(headers.authorization);
    response.writeHead(401, { date: new Date(Date.now() + 90_000).toUTCString() }).end();
  });
  const reached = await tryProviders([{ name: 'near', origin: near }], leadingTo);
  assert.equal(reached?.found.level, 'good', 'any answer will do');
  assert.deepEqual([asked.length, asked[0]], [1, undefined]);
  assert.ok(Math.abs((reached?.skews[0] ?? 0) - 90_000) < 5_000);
  const places = [
    { name: 'near', origin: near },
    { name: 'far', origin: 'http://127.0.0.1:9' },
  ];
  const { found } = (await tryProviders(places, leadingTo)) ?? {};
  assert.deepEqual(found, { level: 'bad', what: 'These providers cannot be reached from here: far (ECONNREFUSED).' });
});

test('OP-08 the doctor tests the payment key without showing it', async (t) => {
  let status = 200;
  const url = await serve(t, (_, response) => response.writeHead(status).end('{}'));
  const ask = async () =>
    (await tryProcessor({ secretKey: 'rk_live_hidden', apiBase: new URL(url) }, leadingTo, signal)).found;
  const seen = [];
  for (status of [200, 401, 403, 500]) seen.push(await ask());
  assert.deepEqual(
    seen.map(({ level }) => level),
    ['good', 'bad', 'bad', 'warn'],
  );
  assert.ok(!JSON.stringify(seen).includes('hidden'));
});

test('OP-08 the doctor judges a certificate’s chain, name and days', () => {
  const shown = [[90], [13], [2], [90, 'CERT_HAS_EXPIRED']] as const;
  const levels = shown.map(([days, fault]) => {
    const { level } = judgeCertificate('pay.example.com', { fault, validToMs: days * DAY_MS, protocol: 'TLSv1.3' }, 0);
    return level;
  });
  assert.deepEqual(levels, ['good', 'warn', 'bad', 'bad']);
});

test('OP-08 the doctor tests the disk without leaving anything', async (t) => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-disk-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.notEqual((await tryDisk(directory)).level, 'bad');
  assert.deepEqual(readdirSync(directory), []);
  const { chmodSync } = await import('node:fs');
  chmodSync(directory, 0o777);
  assert.match((await tryDisk(directory)).what, /^Other users of this machine can change files/);
  assert.equal((await tryDisk(path.join(directory, 'missing'))).level, 'bad');
});

test('OP-08 the doctor recognises a random secret without showing it', () => {
  const random = 'q7Zt0mE4xVb1nR8sKc5uYh2wLj6pDf3g';
  const secrets = [
    random,
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'correct horse battery staple and more of it',
    'abababababababababcdcdcdcdcdcdcd',
  ];
  const found = secrets.map((secret) => judgeStrength(Buffer.from(secret), ['another password']));
  assert.deepEqual(
    found.map(({ level }) => level),
    ['good', 'good', 'warn', 'warn'],
  );
  assert.equal(judgeStrength(Buffer.from(random), [random]).level, 'bad');
  assert.ok(!JSON.stringify(found).includes('staple'));
});

test('OP-08 the doctor finds call connections with wrong rights', () => {
  const role = {
    is_superuser: false,
    statement_timeout: '5s',
    lock_timeout: '250ms',
    idle_timeout: '5s',
    enters_ledger: true,
    changes_entries: false,
  };
  const live = { ...role, role: 'purser_live' };
  const sandbox = { ...role, role: 'purser_sandbox', enters_ledger: false };
  const owner = { ...role, role: 'purser', changes_entries: true };
  const levelOf = (of: object, isEmbedded = false) => judgeRoles({ live, sandbox, owner, ...of }, isEmbedded).level;
  assert.equal(levelOf({}), 'good');
  assert.equal(levelOf({ live: { ...live, role: 'purser' } }), 'bad', 'a pooler dropped the role');
  assert.equal(levelOf({ live: { ...live, statement_timeout: '0' } }), 'bad');
  assert.equal(levelOf({ live: { ...live, changes_entries: true } }), 'bad');
  assert.equal(levelOf({ sandbox: { ...sandbox, enters_ledger: true } }), 'bad');
  assert.equal(levelOf({ sandbox: { ...sandbox, is_superuser: true } }), 'bad');
  assert.equal(levelOf({ owner: { ...owner, is_superuser: true } }), 'warn');
  assert.equal(levelOf({ owner: { ...owner, is_superuser: true } }, true), 'good', 'the embedded server is ours alone');
});
