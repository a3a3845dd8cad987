// Responses in and out: the caller's own request goes to a vendor who speaks it, and the answer is counted like any other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/client.ts';
import { billNamed } from '../support/receipts.ts';
import { CHARGE, BALANCE, setResponsesStage } from '../support/responses-stage.ts';
import {
  callItem,
  eventSteps,
  messageItem,
  reasoningItem,
  responding,
  responseEvents,
  streaming,
} from '../support/responses-upstream.ts';
import { completionBody, type NextScript, streamSteps } from '../support/scripted-upstream.ts';
import { waitUntil } from '../support/wait-until.ts';

const { upstream, service, app, newUser, sent } = await setResponsesStage();

/** A call of a fresh user by Responses, with its bill. The wallet has the rest, and nothing is held. */
async function respond(script: NextScript, fields: Readonly<Record<string, unknown>> = {}) {
  const user = await newUser(BALANCE);
  upstream.script(script);
  const body = { model: 'acme.new-1', input: 'Where?', ...fields };
  const headers = { 'x-correlation-id': user };
  const reply = await send('/v1/responses', { url: service.url, key: app.liveKey, user, headers, body });
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  return { reply, bill };
}

function eventsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

const SECRETS = /secret|flex|billing|operator says|gpt-9/;
const CUSTOM = { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } };

test('WI-02 a native request arrives as written, with our limit and nothing stored', async () => {
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where?' }] },
    { type: 'custom_tool_call', call_id: 'c1', name: 'exec', input: 'ls' },
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'a.txt' },
  ];
  const asked = { input, tools: [CUSTOM], text: { verbosity: 'low' }, max_output_tokens: 50, store: false };
  const { reply, bill } = await respond(responding([messageItem('In Rome.')]), { ...asked, user: 'anna' });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(Object.keys(sent()).slice(0, 3), ['model', 'max_output_tokens', 'store']);
  assert.deepEqual(
    [sent()['model'], sent()['max_output_tokens'], sent()['store'], sent()['input'], sent()['tools'], sent()['text']],
    ['new-upstream', 50, false, input, [CUSTOM], { verbosity: 'low' }],
  );
  assert.equal(sent()['user'], undefined);
  assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [CHARGE, false, false]);
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.match(reply.text, /In Rome/);
  assert.doesNotMatch(reply.text, SECRETS);
});

test('WI-02 a native stream relays what a translation would lose, and costs the same', async () => {
  const item = { ...messageItem('Hello there'), phase: 'final_answer' };
  const { reply, bill } = await respond(streaming([reasoningItem(['Hm.'], 'sealed-1'), item]), { stream: true });
  assert.equal(reply.status, 200, reply.text);
  assert.doesNotMatch(reply.text, SECRETS);
  const events = eventsIn(reply.text);
  const items = events.filter(({ type }) => type === 'response.output_item.done').map((event) => event['item']);
  assert.deepEqual(
    items.map((one) => [(one as { encrypted_content?: string }).encrypted_content, (one as { phase?: string }).phase]),
    [
      ['sealed-1', undefined],
      [undefined, 'final_answer'],
    ],
  );
  const text = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
  assert.equal(text.join(''), 'Hello there');
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_, place) => place),
  );
  assert.deepEqual([bill.charged, bill.isEstimated, bill.outcome], [CHARGE, false, 'answered']);
});

/** An event as other languages write JSON. */
function written({ type, ...event }: ReturnType<typeof responseEvents>[number]): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...event }, undefined, 1).replaceAll(/\n */g, ' ')}\n\n`;
}

test('WI-02 events of a native stream arrive as they came, if nothing of them is hidden', async () => {
  const events = responseEvents([messageItem('Hello there, and all the rest of it')]);
  const inner = events.slice(2, -1);
  const came = await respond({ body: [{ write: events.map(written).join('') }] }, { stream: true });
  assert.ok(came.reply.text.includes(inner.map(written).join('')), came.reply.text);
  // With other numbers than ours, and with what callers may not see, they are written anew.
  const odd = [
    events.map((event) => ({ ...event, sequence_number: Number(event['sequence_number']) + 1 })),
    events.map((event) => ({ ...event, secret: 'flex' })),
  ];
  for (const others of odd) {
    const { reply, bill } = await respond({ body: [{ write: others.map(written).join('') }] }, { stream: true });
    assert.deepEqual(eventsIn(reply.text).slice(2, -1), inner);
    assert.doesNotMatch(reply.text, SECRETS);
    assert.equal(bill.charged, came.bill.charged);
  }
});

test('WI-02 a native stream goes over to chat completions before its first byte', async () => {
  const chat = {
    body: completionBody({ model: 'm', content: 'In Rome.', usage: { prompt_tokens: 20, completion_tokens: 11 } }),
  };
  const script: NextScript = ({ path }) => (path.endsWith('/responses') ? { status: 503, body: '{}' } : chat);
  const { reply, bill } = await respond(script, { model: 'acme.both-1' });
  assert.deepEqual([reply.status, bill.charged], [200, 31], reply.text);
  assert.match(reply.text, /In Rome/);
  // What fails before it says anything has begun nothing, although its head came.
  const failed = { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } };
  const begun = eventSteps([...responseEvents([]).slice(0, 2), failed]);
  const usage = { prompt_tokens: 20, completion_tokens: 11 };
  const steps = streamSteps({ model: 'm', pieces: ['In', ' Rome.'], usage, includeUsageChunk: true });
  const early: NextScript = ({ path }) => ({ body: path.endsWith('/responses') ? begun : steps });
  const streamed = await respond(early, { model: 'acme.both-1', stream: true });
  assert.deepEqual([streamed.reply.status, streamed.bill.charged], [200, 31], streamed.reply.text);
});

test('WA-07 a native limit is lowered to what the wallet pays', async () => {
  const user = await newUser(700);
  upstream.script(responding([messageItem('In Rome.')]));
  const body = { model: 'acme.new-1', input: 'Where?' };
  const reply = await send('/v1/responses', { url: service.url, key: app.liveKey, user, body });
  assert.equal(reply.status, 200, reply.text);
  const limit = Number(sent()['max_output_tokens']);
  assert.ok(limit >= 16 && limit < 200, String(limit));
  const short = await send('/v1/responses', {
    url: service.url,
    key: app.liveKey,
    user,
    body: { ...body, max_output_tokens: 15 },
  });
  assert.deepEqual([short.status, short.error['param']], [400, 'max_output_tokens']);
});

test('CC-11 a native stream without an end of its own is charged by our count', async () => {
  const output = [callItem('find', '{"city":"Rome"}')];
  const { reply, bill } = await respond({ body: eventSteps(responseEvents(output).slice(0, -1)) }, { stream: true });
  assert.equal(eventsIn(reply.text).at(-1)?.['type'], 'response.completed', reply.text);
  assert.ok(bill.isEstimated && bill.charged > 0 && bill.outcome === 'answered');
});

test('ER-06 a native stream that breaks off is free, in words of ours', async () => {
  const gate = Promise.withResolvers<void>();
  const events = responseEvents([messageItem('Hello there')]);
  const steps = [...eventSteps(events.slice(0, 5)), { waitFor: gate.promise }, { destroy: true } as const];
  upstream.script({ body: steps });
  const pending = respond({ body: steps }, { stream: true });
  await waitUntil('it has begun', async () => upstream.requests.length > 0 || undefined);
  gate.resolve();
  const { reply, bill } = await pending;
  assert.deepEqual([bill.charged, bill.outcome], [0, 'failed']);
  assert.match(reply.text, /UPSTREAM_PROVIDER_ERROR/);
});

const searchItem = (type: string) => ({
  id: `ws_${type}`,
  type: 'web_search_call',
  status: 'completed',
  action: { type },
});

test('MO-08 a native call pays its searches, of which it may make no more than held', async () => {
  const output = [searchItem('search'), searchItem('open_page'), searchItem('search'), messageItem('In Rome.')];
  const asked = { model: 'acme.searching-1', tools: [{ type: 'web_search' }] };
  const { reply, bill } = await respond(responding(output), asked);
  assert.deepEqual([reply.status, bill.charged], [200, CHARGE + 20_000], reply.text);
  assert.deepEqual([sent()['tools'], sent()['max_tool_calls']], [[{ type: 'web_search' }], 5]);
  await respond(responding(output), { ...asked, max_tool_calls: 2 });
  assert.equal(sent()['max_tool_calls'], 2);
});

test('MO-08 searches of a native stream are paid where its last event does not repeat them', async () => {
  const done = ['search', 'search'].map((type, place) => ({
    type: 'response.output_item.done',
    output_index: place + 1,
    item: { ...searchItem(type), id: `ws_${place}` },
  }));
  const events = responseEvents([messageItem('In Rome.')], { output: [] });
  const asked = { model: 'acme.searching-1', tools: [{ type: 'web_search' }], stream: true };
  const script = { body: eventSteps([...events.slice(0, -1), ...done, ...events.slice(-1)]) };
  const { reply, bill } = await respond(script, asked);
  assert.deepEqual([reply.status, bill.charged], [200, CHARGE + 20_000], reply.text);
});

test('CC-23 searches are paid beside our own count of an answer without usage', async () => {
  const output = [searchItem('search'), messageItem('In Rome.')];
  const asked = { model: 'acme.searching-1', tools: [{ type: 'web_search' }] };
  const { reply, bill } = await respond(responding(output, { usage: null }), asked);
  assert.deepEqual([reply.status, bill.isEstimated], [200, true], reply.text);
  assert.ok(bill.charged > 10_000 && bill.charged < 10_100, `${bill.charged}`);
});

test('CC-24 a stream of more items than are taken is cut there, and paid', async () => {
  const calls = Array.from({ length: 1_030 }, (_, place) => callItem('look', '{}', `call_${place}`));
  const texts = Array.from({ length: 2_060 }, (_, place) => messageItem('Rome. ', { id: `msg_${place}` }));
  for (const output of [calls, texts]) {
    const { reply, bill } = await respond(streaming(output), { stream: true });
    assert.deepEqual([reply.status, bill.outcome, bill.isEstimated], [200, 'answered', true]);
    assert.ok(bill.charged > 900, `${bill.charged}`);
    assert.match(reply.text, /event: response\.incomplete\n/);
  }
});
