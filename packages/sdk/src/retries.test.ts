import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Purser } from './client.ts';

type Answer = () => Response | Promise<Response>;

const URL_OF_CHAT = 'https://purser.test/v1/chat/completions';
const CALL = { method: 'POST', body: '{"messages":[]}', headers: { 'content-type': 'application/json' } };
const lost = () => Promise.reject(new TypeError('fetch failed'));
const aborted = () => Promise.reject(new DOMException('This operation was aborted', 'AbortError'));
const status = (code: number) => () => new Response('{}', { status: code });
const withHeader = (name: string, value: string) => ({ ...CALL, headers: { ...CALL.headers, [name]: value } });
const json = () => new Response('{}', { headers: { 'content-type': 'application/json; charset=utf-8' } });

/** Gives the answers in this order, then `json` for every later call, and records the key of each call. */
function clientThat(...answers: Answer[]) {
  const keys: (string | null)[] = [];
  const purser = new Purser({
    baseURL: 'https://purser.test',
    apiKey: 'k',
    fetch: async (_input, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return (answers.shift() ?? json)();
    },
  });
  const call = (user = 'anna', init: RequestInit = CALL, url = URL_OF_CHAT) => purser.forUser(user).fetch(url, init);
  /** Numbers the keys in the order of their first use: equal numbers are equal keys. */
  const numbers = () => {
    const distinct = [...new Set(keys)];
    return keys.map((key) => distinct.indexOf(key));
  };
  return { call, keys, numbers };
}

/** A body whose first bytes arrive and whose rest never does. */
function brokenOff(type = 'application/json'): Response {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new TypeError('terminated')),
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"choi')),
  });
  return new Response(body, { headers: { 'content-type': type } });
}

test('CC-14 a chat call resent after a loss keeps its key', async () => {
  const { call, keys, numbers } = clientThat(lost, lost);
  await Promise.all([assert.rejects(call()), assert.rejects(call())]);
  for (let time = 0; time < 3; time += 1) assert.equal((await call()).status, 200);
  assert.deepEqual(numbers().slice(0, 2), [0, 1]);
  assert.deepEqual(new Set(numbers().slice(2, 4)), new Set([0, 1]));
  assert.equal(numbers()[4], 2);
  for (const key of keys) assert.match(key ?? '', /^[\da-f-]{36}$/);
});

test('CC-14 WI-01 a call by Responses that is resent keeps its key', async () => {
  const { call, numbers } = clientThat(lost);
  const resend = () => call('anna', CALL, 'https://purser.test/v1/responses');
  await assert.rejects(resend());
  await resend();
  await resend();
  assert.deepEqual(numbers(), [0, 0, 1]);
});

test('CC-14 a call whose answer breaks off is lost', async () => {
  const { call, numbers } = clientThat(brokenOff);
  await assert.rejects(call(), { message: 'terminated' });
  for (let time = 0; time < 2; time += 1) assert.deepEqual(await (await call()).json(), {});
  assert.deepEqual(numbers(), [0, 0, 1]);
});

test('CC-14 a stream arrives unbuffered, and a broken one is not lost', async () => {
  const { call, numbers } = clientThat(() => brokenOff('text/event-stream'));
  const { status, body } = await call();
  assert.equal(status, 200);
  assert.ok(body !== null);
  await assert.rejects(async () => {
    for await (const _ of body) continue;
  }, /terminated/);
  await call();
  assert.deepEqual(numbers(), [0, 1]);
});

test('CC-14 a call keeps its key until it is answered', async () => {
  const { call, numbers } = clientThat(aborted, status(409), lost, status(429), status(402), status(504));
  await assert.rejects(call(), { name: 'AbortError' });
  assert.equal((await call()).status, 409);
  await assert.rejects(call());
  for (const wanted of [429, 402, 504, 200, 200]) assert.equal((await call()).status, wanted);
  assert.deepEqual(numbers(), [0, 0, 0, 0, 0, 0, 0, 1]);
});

test('CC-14 equal refused calls get their own keys when resent', async () => {
  const { call, numbers } = clientThat(status(402), status(402), status(402));
  const all = () => Promise.all([call(), call(), call()]);
  await all();
  await all();
  assert.deepEqual(new Set(numbers().slice(3)), new Set([0, 1, 2]));
});

test('CC-14 a different user, body or path makes a different call', async () => {
  const { call, keys, numbers } = clientThat(lost);
  await assert.rejects(call());
  await call('eve');
  await call('anna', { ...CALL, body: '{"messages":[{}]}' });
  await call('anna', CALL, 'https://purser.test/v1/images');
  await call();
  assert.deepEqual(numbers(), [0, 1, 2, 3, 0]);
  assert.equal(keys[3], null);
});

test('CC-14 the app’s own key and a client’s retry count stay', async () => {
  const { call, keys, numbers } = clientThat(lost, lost);
  await assert.rejects(call('anna', withHeader('Idempotency-Key', 'mine')));
  await assert.rejects(call('anna', withHeader('x-stainless-retry-count', '0')));
  await call('anna', withHeader('x-stainless-retry-count', '1'));
  await call('anna', withHeader('idempotency-key', 'mine'));
  assert.deepEqual([keys[0], keys[3]], ['mine', 'mine']);
  assert.deepEqual(numbers(), [0, 1, 1, 0]);
});

test('CC-14 at most ten thousand failed calls are remembered', async () => {
  const { call, keys } = clientThat(...Array.from({ length: 10_001 }, () => lost));
  const at = (index: number) => call('anna', { ...CALL, body: String(index) });
  await assert.rejects(at(0));
  await Promise.allSettled(Array.from({ length: 10_000 }, (_, index) => at(index + 1)));
  const sent = new Set(keys);
  assert.equal(sent.size, 10_001);
  for (const index of [0, 10_000]) await at(index);
  assert.deepEqual(
    keys.slice(-2).map((key) => sent.has(key)),
    [false, true],
  );
});
