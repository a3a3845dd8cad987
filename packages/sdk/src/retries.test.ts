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

/** What is sent is answered in this order, at last by `json`; and the retry counts that it was sent with. */
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

/** A body of which the first bytes come and no others. */
function brokenOff(type = 'application/json'): Response {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new TypeError('terminated')),
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"choi')),
  });
  return new Response(body, { headers: { 'content-type': type } });
}

test('CC-14 a chat call is marked as a retry after one that was lost, and once for each that was', async () => {
  const { call, counts } = clientThat(lost, lost);
  await Promise.all([assert.rejects(call()), assert.rejects(call())]);
  for (let time = 0; time < 3; time += 1) assert.equal((await call()).status, 200);
  assert.deepEqual(counts, ['0', '0', '1', '1', '0']);
});

test('CC-14 an answer that breaks off was lost, and one that does not is read as it came', async () => {
  const { call, counts } = clientThat(brokenOff);
  await assert.rejects(call(), { message: 'terminated' });
  assert.deepEqual(await (await call()).json(), {});
  assert.deepEqual(counts, ['0', '1']);
});

test('CC-14 a stream is handed on as it comes, and what breaks off in it is not a lost call', async () => {
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

test('CC-14 what was given up, refused or told to come again is marked too when it comes again', async () => {
  const { call, counts } = clientThat(aborted, status(409), status(429), status(504));
  await assert.rejects(call(), { name: 'AbortError' });
  for (const wanted of [409, 429, 504, 200, 200]) assert.equal((await call()).status, wanted);
  assert.deepEqual(counts, ['0', '1', '1', '1', '1', '0']);
});

test('CC-14 what was refused at once was not lost: the same call afterwards is a new one', async () => {
  const refusals = [400, 402, 404, 429];
  const { call, counts } = clientThat(...refusals.map(status), status(500), lost, status(402));
  for (const wanted of [...refusals, 500]) assert.equal((await call()).status, wanted);
  await assert.rejects(call());
  for (const wanted of [402, 200]) assert.equal((await call()).status, wanted);
  assert.deepEqual(counts, ['0', '0', '0', '0', '0', '1', '1', '1']);
});

test('CC-14 another user, another body and another path are other calls', async () => {
  const { call, counts } = clientThat(lost);
  await assert.rejects(call());
  await call('eve');
  await call('anna', { ...CALL, body: '{"messages":[{}]}' });
  await call('anna', CALL, 'https://purser.test/v1/embeddings');
  await call();
  assert.deepEqual(counts, ['0', '0', '0', null, '1']);
});

test('CC-14 a key of the app stays alone, and a count of the client stays unless it hides a retry', async () => {
  const { call, counts } = clientThat(lost, lost);
  await assert.rejects(call('anna', withHeader('idempotency-key', 'mine')));
  await assert.rejects(call('anna', withHeader('x-stainless-retry-count', '0')));
  await call('anna', withHeader('x-stainless-retry-count', '0'));
  await call('anna', withHeader('x-stainless-retry-count', '2'));
  await call('anna', withHeader('idempotency-key', 'mine'));
  assert.deepEqual(counts, [null, '0', '1', '2', null]);
});

test('CC-14 a thousand lost calls are remembered, and no more', async () => {
  const { call, counts } = clientThat(...Array.from({ length: 1_001 }, () => lost));
  const at = (index: number) => call('anna', { ...CALL, body: String(index) });
  for (let index = 0; index <= 1_000; index += 1) await assert.rejects(at(index));
  for (const index of [0, 1, 1_000]) await at(index);
  assert.deepEqual(counts.slice(-3), ['0', '1', '1']);
});
