import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { createGate } from '../support/gate.ts';
import { openChat } from '../support/open-chat.ts';
import { receiptNamed } from '../support/receipts.ts';
import {
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamStep,
} from '../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const BODY = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: true });
const BEGUN = streamSteps({
  model: 'large-upstream',
  pieces: ['A begun', ' answer.'],
  includeUsageChunk: false,
  finishReason: null,
  isDoneSent: false,
});

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;
let calls = 0;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 1_000 }));
  app = await service.addApp({ maxStreamsPerUser: 1 }); // A slot that is not freed refuses the next stream.
  await service.fund(app, 'user', BALANCE);
});

after(async () => {
  await service.close();
  await upstream.close();
});

interface LateFailure {
  readonly what: string;
  readonly tail: readonly UpstreamStep[];
  readonly code?: 'UPSTREAM_THROTTLED';
}

const done = { write: frame('[DONE]') };
const FAILURES: readonly LateFailure[] = [
  { what: 'resets', tail: [{ destroy: true }] },
  { what: 'falls silent', tail: [{ hang: true }] },
  { what: 'ends without a reason to finish', tail: [] },
  { what: 'is done without a reason to finish', tail: [done] },
  { what: 'reports usage but no reason to finish', tail: [{ write: frame({ choices: [], usage: USAGE }) }, done] },
  {
    what: 'finishes one of two choices',
    tail: [{ write: frame({ choices: [{ index: 1, delta: { content: 'Two' }, finish_reason: 'stop' }] }) }, done],
  },
  { what: 'sends an error', tail: [{ write: frame({ error: { message: 'Said by the provider.' } }) }] },
  {
    what: 'sends an error after its usage',
    tail: [{ write: frame({ choices: [], usage: USAGE }) }, { write: frame({ error: { message: 'Said.' } }) }],
  },
  { what: 'throttles', tail: [{ write: frame({ error: { code: 429 } }) }], code: 'UPSTREAM_THROTTLED' },
  { what: 'sends no JSON', tail: [{ write: 'data: what?\n\n' }, { hang: true }] },
  { what: 'sends choices that are none', tail: [{ write: frame({ choices: 'many' }) }, { hang: true }] },
  { what: 'sends bytes that are no UTF-8', tail: [{ write: Buffer.from([0x64, 0xff, 0x0a, 0x0a]) }, { hang: true }] },
  { what: 'sends an event without an end', tail: [{ write: `data: ${'x'.repeat(1_200_000)}` }, { hang: true }] },
];

for (const { what, tail, code = 'UPSTREAM_PROVIDER_ERROR' } of FAILURES) {
  test(`CC-11 a begun stream is free, leaves no hold and frees its slot when the provider ${what}`, async () => {
    const correlationId = `late-${(calls += 1)}`;
    const gate = createGate();
    upstream.script({ body: [...BEGUN, { waitFor: gate.opened }, ...tail] });
    const chat = openChat({ url: service.url, key: app.liveKey, user: 'user', body: BODY, correlationId });
    await chat.read('A begun');
    assert.equal((await service.wallet(app, 'user')).openStreams, 1);
    gate.open();
    await chat.closed;
    assert.equal((await chat.head).statusCode, 200);
    assert.ok(!chat.text().includes('[DONE]'), chat.text());
    assert.match(chat.text(), new RegExp(`data: \\{"error":\\{"code":"${code}"[^\n]*\n\n$`));
    assert.deepEqual(await service.wallet(app, 'user'), { balance: BALANCE, held: 0, openStreams: 0 });
    const receipt = await receiptNamed(service.database, correlationId);
    assert.deepEqual([receipt?.outcome, receipt?.charged], ['failed', 0]);
    assert.deepEqual(await service.check(), []);
    await upstream.requests.at(-1)?.closed; // What the provider still had to say is not waited for.
  });
}

test('CC-11 a stream that finishes without usage is charged by our own count, marked so', async () => {
  const pieces = ['Twelve bytes', ' and more', '.'];
  upstream.script({ body: streamSteps({ model: 'large-upstream', pieces, includeUsageChunk: false }) });
  await service.fund(app, 'uncounted', BALANCE);
  const chat = openChat({
    url: service.url,
    key: app.liveKey,
    user: 'uncounted',
    body: BODY,
    correlationId: 'uncounted',
  });
  await chat.closed;
  assert.ok(chat.text().endsWith('data: [DONE]\n\n'));
  const receipt = await receiptNamed(service.database, 'uncounted');
  assert.deepEqual([receipt?.outcome, receipt?.isEstimated], ['answered', true]);
  const { balance, held } = await service.wallet(app, 'uncounted');
  assert.deepEqual([BALANCE - balance, held], [receipt?.charged, 0]);
  assert.ok((receipt?.charged ?? 0) > 0);
  assert.deepEqual(await service.check(), []);
});
