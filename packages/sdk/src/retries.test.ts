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

/** Gives the answers in this order, then `json` for every later call, and records the retry count of each call. */
function clientThat(...answers: Answer[]) {
  const counts: (string | null)[] = [];
  const purser = new Purser({
    baseURL: 'https://purser.test',
    apiKey: 'k',
    fetch: async (_input, init) => {
      counts.push(new Headers(init?.headers).get('x-stainless-retry-count'));
      return (answers.shift() ?? json)();
    },
  });
  const call = (user = 'anna', init: RequestInit = CALL, url = URL_OF_CHAT) => purser.forUser(user).fetch(url, init);
  return { call, counts };
}

/** A body whose first bytes arrive and whose rest never does. */
function brokenOff(type = 'application/json'): Response {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new TypeError('terminated')),
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"choi')),
  });
  return new Response(body, { headers: { 'content-type': type } });
}

test('CC-14 a chat call sent again after lost calls carries their number as its retry count', async () => {
  const { call, counts } = clientThat(lost, lost);
  await Promise.all([assert.rejects(call()), assert.rejects(call())]);
  for (let time = 0; time < 3; time += 1) assert.equal((await call()).status, 200);
  assert.deepEqual(counts, ['0', '0', '1', '1', '0']);
});

test('CC-14 a call whose answer breaks off counts as lost, and a complete answer is read unchanged', async () => {
  const { call, counts } = clientThat(brokenOff);
  await assert.rejects(call(), { message: 'terminated' });
  assert.deepEqual(await (await call()).json(), {});
  assert.deepEqual(counts, ['0', '1']);
});

test('CC-14 a stream is passed on as it arrives, and a stream that breaks off is not a lost call', async () => {
  const { call, counts } = clientThat(() => brokenOff('text/event-stream'));
  const { status, body } = await call();
  assert.equal(status, 200);
  assert.ok(body !== null);
  await assert.rejects(async () => {
    for await (const _ of body) continue;
  }, /terminated/);
  await call();
  assert.deepEqual(counts, ['0', '0']);
});

test('CC-14 a call that was aborted, or refused with a request to retry, is also marked when it is sent again', async () => {
  const { call, counts } = clientThat(aborted, status(409), status(429), status(504));
  await assert.rejects(call(), { name: 'AbortError' });
  for (const wanted of [409, 429, 504, 200, 200]) assert.equal((await call()).status, wanted);
  assert.deepEqual(counts, ['0', '1', '1', '1', '1', '0']);
});

test('CC-14 a call that was refused outright was not lost: the same call afterwards is a new one', async () => {
  const refusals = [400, 402, 404, 429];
  const { call, counts } = clientThat(...refusals.map(status), status(500), lost, status(402));
  for (const wanted of [...refusals, 500]) assert.equal((await call()).status, wanted);
  await assert.rejects(call());
  for (const wanted of [402, 200]) assert.equal((await call()).status, wanted);
  assert.deepEqual(counts, ['0', '0', '0', '0', '0', '1', '1', '1']);
});

test('CC-14 a different user, body or path makes a different call', async () => {
  const { call, counts } = clientThat(lost);
  await assert.rejects(call());
  await call('eve');
  await call('anna', { ...CALL, body: '{"messages":[{}]}' });
  await call('anna', CALL, 'https://purser.test/v1/embeddings');
  await call();
  assert.deepEqual(counts, ['0', '0', '0', null, '1']);
});

test('CC-14 the app’s own key is left alone, and the client’s own count stays unless it hides a retry', async () => {
  const { call, counts } = clientThat(lost, lost);
  await assert.rejects(call('anna', withHeader('idempotency-key', 'mine')));
  await assert.rejects(call('anna', withHeader('x-stainless-retry-count', '0')));
  await call('anna', withHeader('x-stainless-retry-count', '0'));
  await call('anna', withHeader('x-stainless-retry-count', '2'));
  await call('anna', withHeader('idempotency-key', 'mine'));
  assert.deepEqual(counts, [null, '0', '1', '2', null]);
});

test('CC-14 at most a thousand lost calls are remembered', async () => {
  const { call, counts } = clientThat(...Array.from({ length: 1_001 }, () => lost));
  const at = (index: number) => call('anna', { ...CALL, body: String(index) });
  for (let index = 0; index <= 1_000; index += 1) await assert.rejects(at(index));
  for (const index of [0, 1, 1_000]) await at(index);
  assert.deepEqual(counts.slice(-3), ['0', '1', '1']);
});
