import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { findOutcome } from '../../packages/service/src/sandbox/answers/outcomes.ts';
import { callRoute, DATA_PLANE } from '../support/every-route-refuses.ts';
import { chat, COMPLETIONS, type HttpRequest, httpSend, type Reply, replyOf } from '../support/client.ts';
import { FOREIGN_PARAMETERS, PARAMETER_TABLE } from '../support/parameter-table.ts';
import { frame, streamSteps, type UpstreamScript } from '../support/scripted-upstream.ts';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { setStage } from '../support/stage.ts';
import {
  type Fault,
  STEPS,
  violate,
  VIOLATION_SETTINGS,
  violationCatalogue,
  wiresWith,
} from '../support/violations.ts';
import { everyWire } from '../support/wires.ts';

/**
 * Every refusal that a live call can get, next to the sandbox call's refusal of the same request: status, headers and body are
 * equal except for ids, links and the remaining rate. The sandbox says that it is the sandbox.
 */

/** A status waits for the provider, however busy the machine is. */
const WAITS_MS = 3_600_000;
/** The wait for outcomes that begin with a silence, which lasts half of it. */
const SILENT_MS = 2_000;
const pace = { statusMsMax: WAITS_MS, keepAliveMs: 60_000, heldUpMsMax: 10_000 };
const stage = await setStage({
  model: { timeoutMs: 5_000 }, // Live calls to providers that never answer are sat out.
  pace,
});
const { service, app, upstream } = stage;
/** A stage whose models take few parameters. */
const faulty = await setStage({ catalogue: violationCatalogue, environment: VIOLATION_SETTINGS });
const user = await stage.newUser(100_000_000);
upstream.script({ status: 500, body: '{}' });

/** Headers that differ for every answer, or by the mode of the key. */
const VOLATILE = new Set([
  'date',
  'x-correlation-id',
  'x-request-id',
  'request-id',
  'x-service-call-id',
  'x-service-mode',
]);
/** Headers whose value depends on earlier calls. */
const COUNTED = /^(ratelimit|x-ratelimit-remaining|x-ratelimit-reset)/;

function withoutOwn({ status, headers, text }: Reply) {
  const said = text
    .replaceAll(String(headers.get('x-correlation-id')), '<id>')
    .replaceAll(String(headers.get('x-service-topup-url')), '<link>');
  const kept = [...headers].filter(([name]) => !VOLATILE.has(name));
  const told = kept.map(([name, value]) => {
    if (name === 'x-service-topup-url' || name === 'content-length') return [name, ''];
    return [name, COUNTED.test(name) ? '' : value];
  });
  return { status, headers: Object.fromEntries(told), said };
}

/** Compares both answers; what they say about the mode is checked separately. */
function assertSame(live: Reply, sandbox: Reply, { isKnown }: { readonly isKnown: boolean }): void {
  assert.notEqual(live.status, 200, live.text);
  assert.deepEqual(withoutOwn(sandbox), withoutOwn(live));
  assert.equal(live.headers.get('x-service-mode'), null);
  assert.equal(sandbox.headers.get('x-service-mode'), isKnown ? 'sandbox' : null);
}

interface Case {
  readonly what: string;
  readonly request: Partial<HttpRequest>;
  /** The request is refused before the key is looked at. */
  readonly isEarly?: true;
}

const QUESTION = { model: 'large', messages: [{ role: 'user', content: 'Hello' }] };
const bodyWith = (fields: Readonly<Record<string, unknown>>) => JSON.stringify({ ...QUESTION, ...fields });
const rejecting = (what: string, body: HttpRequest['body'], more: Partial<HttpRequest> = {}): Case => ({
  what,
  request: { ...(body === undefined ? {} : { body }), ...more },
});
const header = (name: string, value: string): Partial<HttpRequest> => ({ headers: { [name]: value } });
const IMAGE = { type: 'image_url', image_url: { url: 'https://images.test/a.png' } };
const DEEP = `${'['.repeat(40)}${']'.repeat(40)}`;

const CASES: readonly Case[] = [
  ...['GET', 'PUT', 'DELETE', 'PATCH'].map((method): Case => {
    return { what: `the method ${method}`, request: { method }, isEarly: true };
  }),
  { what: 'an unknown address', request: { path: '/v1/completions' }, isEarly: true },
  { what: 'a body that is too large', request: { body: ' '.repeat(1_048_577) }, isEarly: true },
  { ...rejecting('a compressed body', bodyWith({}), header('content-encoding', 'gzip')), isEarly: true },
  rejecting('no body', undefined),
  rejecting('an empty body', ''),
  rejecting('a body that is not JSON', '{"model"'),
  rejecting('a body that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])),
  rejecting('a body that is a list', '[]'),
  rejecting('a body that is too deep', DEEP),
  rejecting('a name that is unsafe', `{"__proto__":{},${bodyWith({}).slice(1)}`),
  rejecting('no model', bodyWith({ model: undefined })),
  rejecting('a model that is not a string', bodyWith({ model: 7 })),
  rejecting('an unknown model', bodyWith({ model: 'nobody' })),
  rejecting('an unknown outcome', bodyWith({ model: 'sandbox/nobody' })),
  rejecting('a model that is disabled', bodyWith({ model: 'off' })),
  rejecting('a reserved model', bodyWith({ model: 'secret' })),
  rejecting('no messages', bodyWith({ messages: undefined })),
  rejecting('an empty list of messages', bodyWith({ messages: [] })),
  rejecting('a message without a role', bodyWith({ messages: [{ content: 'Hello' }] })),
  rejecting('an image without a price', bodyWith({ messages: [{ role: 'user', content: [IMAGE] }] })),
  rejecting('an idempotency key with a space', bodyWith({}), header('idempotency-key', 'a b')),
  rejecting('a user with a space', bodyWith({}), header('x-service-user', 'a b')),
  rejecting('a user that is too long', bodyWith({}), header('x-service-user', 'u'.repeat(257))),
  rejecting('an empty user', bodyWith({}), header('x-service-user', '')),
  ...PARAMETER_TABLE.flatMap(({ name, refused, beside }) =>
    refused.map(([value], index) =>
      rejecting(`${name}, bad value ${index + 1}`, bodyWith({ ...beside, [name]: value })),
    ),
  ),
  ...FOREIGN_PARAMETERS.map(([name, value]) => rejecting(`the foreign ${name}`, bodyWith({ [name]: value }))),
];

function sendWith(key: string, { method = 'POST', path = COMPLETIONS, headers, body }: Partial<HttpRequest>) {
  const all = {
    authorization: `Bearer ${key}`,
    'x-service-user': user,
    'content-type': 'application/json',
    ...headers,
  };
  return httpSend(service.url, { method, path, headers: all, ...(body === undefined ? {} : { body }) });
}

test(`SB-02 ${CASES.length} requests refused for their content match in both modes`, async () => {
  for (const { what, request, isEarly = false } of CASES) {
    const [live, sandbox] = await Promise.all([app.liveKey, app.testKey].map((key) => sendWith(key, request)));
    assert.ok(live !== undefined && sandbox !== undefined);
    try {
      assertSame(live, sandbox, { isKnown: !isEarly });
    } catch (fault) {
      throw new Error(`${what}: ${live.text} ${sandbox.text}`, { cause: fault });
    }
  }
  assert.equal(upstream.requests.length, 0);
});

for (const fault of STEPS.flat()) {
  everyWire.test(
    `SB-02 "${fault}" gets the same refusal in both modes`,
    async (wire) => {
      // The sandbox has no connections: an unconnected wallet answers like an empty one.
      const twin = fault === 'not connected' ? 'no balance' : fault;
      const live = await violate(faulty.service, new Set<Fault>([fault]), { wire, mode: 'live' });
      const sandbox = await violate(faulty.service, new Set<Fault>([twin]), { wire, mode: 'sandbox' });
      assertSame(live, sandbox, { isKnown: !['too large', 'compressed', 'no key'].includes(fault) });
    },
    wiresWith(fault),
  );
}

test('SB-02 a reused key gets the same refusal in both modes', async () => {
  const replies: Reply[] = [];
  for (const key of [app.liveKey, app.testKey]) {
    upstream.script({ body: COMPLETION });
    const options = { url: service.url, key, user, headers: { 'idempotency-key': 'once' } };
    assert.equal((await chat(options)).status, 200);
    replies.push(await chat(options, { seed: 1 }));
  }
  const [live, sandbox] = replies;
  assert.ok(live !== undefined && sandbox !== undefined);
  assert.equal(live.status, 409);
  assertSame(live, sandbox, { isKnown: true });
});

const COMPLETION = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});
const BEGUN = streamSteps({
  model: 'm',
  pieces: ['begun'],
  includeUsageChunk: false,
  finishReason: null,
  isDoneSent: false,
});
const failing = (status: number): UpstreamScript => ({ status, body: '{"error":{}}' });

type Steps = Exclude<UpstreamScript['body'], string | Buffer>;

/**
 * How a provider behaves for each outcome: for a buffered call, and for a streamed one. The streamed behaviour either sets the
 * status, or breaks the stream off like this after it has begun.
 */
const PROVIDERS: readonly (readonly [outcome: string, plain: UpstreamScript, streamed: UpstreamScript | Steps])[] = [
  ['throttled', failing(429), failing(429)],
  ['error', failing(500), failing(503)],
  ['rejected', failing(400), failing(422)],
  ['timeout', { body: [{ hang: true }] }, failing(504)],
  ['error-midway', failing(500), [{ write: frame({ error: { code: 500, message: 'no' } }) }]],
  ['throttled-midway', failing(529), [{ write: frame({ error: { code: 429 } }) }]],
  ['stalled', { body: [{ hang: true }] }, [{ hang: true }]],
  ['unfinished', { headers: {}, body: [{ write: '{' }] }, []],
];

for (const [seed, [outcome, plain, streamed]] of PROVIDERS.entries()) {
  test(`SB-02 sandbox/${outcome} answers as if a provider behaved so`, async () => {
    const ask = (key: string, fields: Readonly<Record<string, unknown>>) =>
      chat({ url: service.url, key, user }, { seed, ...fields }); // A new request each time, so that none is answered from memory.
    const model = `sandbox/${outcome}`;
    pace.statusMsMax = findOutcome(model)?.silence === 0 ? WAITS_MS : SILENT_MS;
    upstream.script(plain);
    const [live, sandbox] = await Promise.all([ask(app.liveKey, {}), ask(app.testKey, { model })]);
    assertSame(live, sandbox, { isKnown: true });

    const fake = await ask(app.testKey, { stream: true, stop: 'x', model });
    if (!Array.isArray(streamed)) {
      upstream.script(streamed as UpstreamScript);
      return assertSame(await ask(app.liveKey, { stream: true, stop: 'x' }), fake, { isKnown: true });
    }
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    upstream.script({ body: [...BEGUN, { waitFor: isRead }, ...(streamed as Steps)] });
    const begun = await openStream({ url: service.url, key: app.liveKey, user }, { seed, stop: 'x' });
    await begun.until('begun');
    resolve();
    const stream = replyOf(begun, await begun.whole());
    // The earlier frames differ. The failure, and the way it is reported, do not.
    assert.deepEqual(withoutOwn(lastFrameOf(fake)), withoutOwn(lastFrameOf(stream)));
    assert.equal(fake.headers.get('x-service-mode'), 'sandbox');
  });
}

function lastFrameOf(reply: Reply): Reply {
  return { ...reply, text: reply.text.split('\n\n').at(-2) ?? '' };
}

test('AU-01 SB-02 an unknown key gets the same refusal with either prefix', async () => {
  const [completions] = DATA_PLANE;
  assert.ok(completions !== undefined);
  const [live, sandbox] = await Promise.all(
    (['live', 'sandbox'] as const).map((mode) =>
      callRoute(completions, { url: service.url, key: newApiKey(mode), user }),
    ),
  );
  assert.ok(live !== undefined && sandbox !== undefined);
  assertSame(live, sandbox, { isKnown: false });
});

const SHAPE = {
  type: 'object',
  properties: {
    kind: { enum: ['a', 'b'] },
    version: { const: 3 },
    items: { type: 'array', minItems: 2, items: { $ref: '#/$defs/item' } },
    extra: { type: 'string' },
  },
  required: ['kind', 'version', 'items'],
  $defs: { item: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } },
};
const INSTANCE = { kind: 'a', version: 3, items: [{ count: 1 }, { count: 1 }] };

for (const [asked, format, given] of [
  ['JSON', { type: 'json_object' }, { sandbox: true }],
  ['JSON of a schema', { type: 'json_schema', json_schema: { name: 'shape', schema: SHAPE } }, INSTANCE],
] as const) {
  test(`SB-02 the canned answer has the requested shape: two choices of ${asked}`, async () => {
    const fields = { n: 2, response_format: format };
    const plain = await chat({ url: service.url, key: app.testKey, user: 'shaped' }, fields);
    const choices = plain.body['choices'] as { index: number; message: { content: string } }[];
    const said = choices.map(({ index, message }) => `${index}: ${message.content}`);
    assert.deepEqual(said, [`0: ${JSON.stringify(given)}`, `1: ${JSON.stringify(given)}`]);
    const streamed = await chat(
      { url: service.url, key: app.testKey, user: 'shaped' },
      { ...fields, stream: true, stream_options: { include_usage: true } },
    );
    const payloads = payloadsOf(streamed.text).slice(0, -1) as {
      choices: { index: number; delta: { content?: string }; finish_reason: string | null }[];
      usage: { completion_tokens: number } | null;
    }[];
    for (const wanted of [0, 1]) {
      const own = payloads.flatMap(({ choices: some }) => some.filter(({ index }) => index === wanted));
      assert.equal(own.map(({ delta }) => delta.content ?? '').join(''), JSON.stringify(given));
      assert.equal(own.at(-1)?.finish_reason, 'stop');
    }
    // The prompts differ: the streamed request has more fields.
    const generated = (plain.body['usage'] as { completion_tokens: number }).completion_tokens;
    assert.equal(payloads.at(-1)?.usage?.completion_tokens, generated);
  });
}
