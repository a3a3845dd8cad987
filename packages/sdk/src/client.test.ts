import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Purser } from './client.ts';
import { isPurserError } from './errors.ts';

interface Sent {
  readonly url: string;
  readonly init: RequestInit | undefined;
}

/** A client whose requests go nowhere, and a record of what it sent. */
function clientThat(answers: () => Response | Promise<Response>, baseURL = 'https://purser.test') {
  const sent: Sent[] = [];
  const purser = new Purser({
    baseURL,
    apiKey: 'svc_live_x',
    fetch: async (input, init) => {
      sent.push({ url: typeof input === 'object' && 'url' in input ? input.url : String(input), init });
      return answers();
    },
  });
  return { purser, sent };
}

test('SDK-02 the error about an invalid address does not repeat it', () => {
  for (const baseURL of ['https://a:secret@', 'https://a:secret@purser.test', 'https://:secret@purser.test:x']) {
    assert.throws(
      () => new Purser({ baseURL, apiKey: 'k' }),
      (error) => error instanceof TypeError && !inspect(error).includes('secret'),
    );
  }
});

test('SDK-02 a user id that is not text is never sent', () => {
  const { purser } = clientThat(() => new Response());
  for (const missing of [undefined, null, 7, true, ['anna']]) {
    assert.throws(() => purser.forUser(missing as unknown as string), TypeError, String(missing));
  }
});

test('SDK-02 logging a client or user hides the key', () => {
  const { purser } = clientThat(() => new Response());
  const user = purser.forUser('anna');
  assert.equal(user.apiKey, 'svc_live_x');
  for (const shown of [inspect(purser), inspect(user), JSON.stringify([purser, user])]) {
    assert.doesNotMatch(shown, /svc_live_x/);
  }
});

test('SDK-02 the fetch signs requests to the service and no others', async () => {
  const { purser, sent } = clientThat(() => new Response('{}'));
  const { fetch } = purser.forUser('anna');
  const body = { method: 'POST', body: '{}' };
  await fetch('https://purser.test/v1/models');
  await fetch(new URL('https://purser.test/v1/models'), { headers: { 'x-own': '1' } });
  await fetch(new Request('https://purser.test/v1/chat/completions', { ...body, headers: { 'x-own': '2' } }));
  await fetch('https://purser.test/v1/models', { headers: { authorization: 'Bearer other', 'X-Service-User': 'eve' } });
  for (const [index, own] of [null, '1', '2', null].entries()) {
    const headers = new Headers(sent[index]?.init?.headers);
    assert.deepEqual(
      [headers.get('authorization'), headers.get('x-service-user'), headers.get('x-own')],
      ['Bearer svc_live_x', 'anna', own],
    );
  }
  for (const elsewhere of ['https://purser.test.evil.test/v1', 'https://other.test/', 'http://purser.test/v1']) {
    await fetch(elsewhere);
    assert.equal(sent.at(-1)?.init, undefined, elsewhere);
  }
});

test('SDK-01 foreign answers are reported, and redirects are not followed', async () => {
  const answers: readonly [Response, string, number][] = [
    [new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'x-correlation-id': 'cor_1' } }), 'cor_1', 502],
    [new Response(null, { status: 302, headers: { location: 'https://evil.test' } }), '', 302],
    [new Response('{"error":"no"}', { status: 400 }), '', 400],
    [new Response('null', { status: 500 }), '', 500],
  ];
  for (const [answer, correlationId, status] of answers) {
    const { purser, sent } = clientThat(() => answer);
    await assert.rejects(purser.balance('anna'), (error) => {
      assert.ok(isPurserError(error, 'ServiceApiError'));
      assert.deepEqual([error.status, error.code, error.correlationId], [status, 'UNKNOWN', correlationId]);
      return true;
    });
    assert.equal(sent[0]?.init?.redirect, 'manual');
  }
  const { purser } = clientThat(() => new Response('<h1>Welcome</h1>'));
  await assert.rejects(purser.balance('anna'), { name: 'TypeError', message: /is not Purser/ });
});

test('SDK-01 a bodyless 402 stays a 402, and network errors pass unchanged', async () => {
  const bare = clientThat(() => new Response(null, { status: 402, headers: { 'x-correlation-id': 'cor_2' } }));
  await assert.rejects(bare.purser.balance('anna'), (error) => {
    assert.ok(isPurserError(error, 'PaymentRequiredError'));
    assert.deepEqual([error.code, error.correlationId, 'topupUrl' in error], ['PAYMENT_REQUIRED', 'cor_2', false]);
    return true;
  });
  const lost = new TypeError('fetch failed');
  const { purser } = clientThat(() => Promise.reject(lost));
  await assert.rejects(purser.balance('anna'), lost);
});

test('SDK-02 a caller may abort and correlate a call', async () => {
  const { purser, sent } = clientThat(() => new Response('{}'));
  const { signal } = new AbortController();
  await purser.usageSummary('anna', { signal, correlationId: 'mine', month: '2026-01' });
  assert.equal(sent[0]?.url, 'https://purser.test/usage/summary?month=2026-01');
  assert.equal(sent[0]?.init?.signal, signal);
  assert.equal(new Headers(sent[0]?.init?.headers).get('x-correlation-id'), 'mine');
});

test('CC-14 each call of a wire has a key, also one with a query', async () => {
  const { purser, sent } = clientThat(() => new Response('{}'));
  const { fetch, baseURL } = purser.forUser('anna');
  const paths = [
    'chat/completions',
    'responses',
    'messages',
    'messages?beta=true',
    'embeddings',
    'messages/count_tokens',
  ];
  for (const path of paths) await fetch(`${baseURL}/${path}`, { method: 'POST', body: '{}' });
  const keyed = sent.map(({ init }) => new Headers(init?.headers).has('idempotency-key'));
  assert.deepEqual(keyed, [true, true, true, true, true, false]);
});
