// What providers leave out of their answers or phrase in their own way, and what callers receive instead.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { chat } from '../support/client.ts';
import { createGate } from '../support/gate.ts';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { frame } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
const CHARGE = chargeFor({ prompt: 30, completion: 20 });
const STARTED = Math.floor(Date.now() / 1_000);

type Payload = Record<string, unknown>;

const { upstream, service, app, newUser, callAs } = await setStage();

async function streamOf(chunks: readonly unknown[], fields: Payload = {}) {
  const user = await newUser(BALANCE);
  upstream.script({ body: [{ write: [...chunks, '[DONE]'].map(frame).join('') }] });
  const reply = await callAs(user, { stream: true, ...fields });
  return { user, reply };
}

async function plainOf(completion: unknown) {
  const user = await newUser(BALANCE);
  upstream.script({ body: JSON.stringify(completion) });
  return { user, reply: await callAs(user) };
}

async function expectCharged(user: string, charge: number): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
}

/** Checks the head that the service makes up, and returns it. */
function headOf(answer: Payload, callId: string | null): Payload {
  const { id, object, created, model } = answer;
  assert.equal(id, `chatcmpl-${callId}`);
  assert.ok(Number.isInteger(created) && Number(created) >= STARTED && Number(created) <= STARTED + 3_600);
  return { id, object, created, model };
}

test('CC-01 chunks of choices alone are completed with one head', async () => {
  const { user, reply } = await streamOf(
    [
      { choices: [{ delta: { role: 'assistant' } }] },
      { id: '', object: '', created: null, choices: [{ delta: { content: 'Hi' }, finish_reason: '' }] },
      { id: 'late', object: 'chat.completion', created: 5, choices: [{ index: 0, finish_reason: 'stop' }] },
      { usage: USAGE },
    ],
    { stream_options: { include_usage: true } },
  );
  const payloads = payloadsOf(reply.text) as Payload[];
  const head = headOf(payloads[0] ?? {}, reply.headers.get('x-service-call-id'));
  assert.deepEqual([head['object'], head['model']], ['chat.completion.chunk', 'acme.large-1']);
  assert.deepEqual(payloads, [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }], usage: null },
    { ...head, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }], usage: null },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
    { ...head, choices: [], usage: USAGE, charge_micros: CHARGE },
    '[DONE]',
  ]);
  await expectCharged(user, CHARGE);
});

function chunkOf(id: string, created: number, reason: string | null): Payload {
  const choices = [{ index: 0, delta: { content: id }, finish_reason: reason }];
  return { id, object: 'chat.completion.chunk', created, choices };
}

test('CC-01 every chunk repeats the first’s id and time', async () => {
  const { reply } = await streamOf([chunkOf('a', 7, null), chunkOf('b', 8, 'stop')]);
  const heads = (payloadsOf(reply.text).slice(0, -1) as Payload[]).map(({ id, created }) => [id, created]);
  assert.deepEqual(heads, [
    ['a', 7],
    ['a', 7],
  ]);
});

for (const on of [
  'the first chunk',
  'the last chunk with content',
  'a chunk without choices',
  'a chunk with null for choices',
]) {
  test(`CC-12 usage is read from ${on}`, async () => {
    const told = (where: string) => (where === on ? { usage: USAGE } : {});
    const { user, reply } = await streamOf([
      { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }], ...told('the first chunk') },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...told('the last chunk with content') },
      ...(on === 'a chunk without choices' ? [{ usage: USAGE }] : []),
      ...(on === 'a chunk with null for choices' ? [{ choices: null, usage: USAGE }] : []),
    ]);
    assert.ok(!reply.text.includes('usage'));
    await expectCharged(user, CHARGE);
  });
}

const CHOICE = { index: 0, delta: { content: 'x' }, message: { content: 'x' }, finish_reason: 'stop' };
const BROKEN: readonly (readonly [string, unknown])[] = [
  ['an error in it', { ...CHOICE, error: { code: 502, message: 'secret text' } }],
  ['"error" for a reason', { ...CHOICE, finish_reason: 'error' }],
  ['a reason that means the answer broke off', { ...CHOICE, finish_reason: 'insufficient_system_resource' }],
  ['a value that is no choice', 'x'],
];

for (const [what, choice] of BROKEN) {
  test(`CC-11 a choice with ${what} fails the call, which costs nothing`, async () => {
    const whole = await plainOf({ choices: [choice], usage: USAGE });
    assertRefusal(whole.reply, { code: 'UPSTREAM_PROVIDER_ERROR' });
    await expectCharged(whole.user, 0);
    const early = await streamOf([{ choices: [choice], usage: USAGE }]);
    assertRefusal(early.reply, { code: 'UPSTREAM_PROVIDER_ERROR' });
    await expectCharged(early.user, 0);
    const begun = { choices: [{ index: 0, delta: { content: 'begun' }, finish_reason: null }] };
    const user = await newUser(BALANCE);
    const gate = createGate();
    const bad = frame({ choices: [choice], usage: USAGE }) + frame('[DONE]');
    upstream.script({ body: [{ write: frame(begun) }, { waitFor: gate.opened }, { write: bad }] });
    const late = await openStream({ url: service.url, key: app.liveKey, user });
    await late.until('begun');
    gate.open();
    const text = await late.whole();
    assert.match(text, /"code":"UPSTREAM_PROVIDER_ERROR"[^\n]*\n\n$/);
    assert.ok(!text.includes('secret') && !text.includes('[DONE]'));
    await expectCharged(user, 0);
  });
}

test('CC-11 a throttling error inside a choice is reported as throttling', async () => {
  const { reply } = await streamOf([{ choices: [{ ...CHOICE, error: { code: 429 } }] }]);
  assertRefusal(reply, { code: 'UPSTREAM_THROTTLED' });
});

/** Reads as LangChain4j 1.19.0 does: it passes over members that it does not know, and raises at one of another type. */
function readTyped(text: string): string {
  return payloadsOf(text)
    .flatMap((payload) => {
      const { choices = [] } = payload as { choices?: unknown };
      if (!Array.isArray(choices)) throw new TypeError('Cannot deserialize value of type `ArrayList`.');
      return choices as readonly { readonly delta?: { readonly content?: string } }[];
    })
    .map(({ delta }) => delta?.content ?? '')
    .join('');
}

test('ER-06 a reader that knows no errors raises after a broken stream', async () => {
  const user = await newUser(BALANCE);
  upstream.script({ body: [{ write: frame({ choices: [{ index: 0, delta: { content: 'half' } }] }) }] });
  const live = await callAs(user, { stream: true });
  const sandbox = { url: service.url, key: app.testKey, user };
  const broken = ['error-midway', 'throttled-midway', 'unfinished'].map((name) => {
    return chat(sandbox, { model: `sandbox/${name}`, stream: true });
  });
  for (const { status, text } of [live, ...(await Promise.all(broken))]) {
    assert.equal(status, 200);
    assert.throws(() => readTyped(text), TypeError, text);
    assert.match(text, /data: \{"error":[^\n]*\n\n$/);
  }
  await expectCharged(user, 0);
});

test('CC-11 ER-06 a stream without an end or without content is a failure', async () => {
  for (const reason of [null, '', undefined, 0]) {
    const user = await newUser(BALANCE);
    const begun = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: reason }] };
    upstream.script({ body: [{ write: frame(begun) }] });
    const reply = await callAs(user, { stream: true });
    assert.match(reply.text, /"code":"UPSTREAM_PROVIDER_ERROR"[^\n]*\n\n$/);
    assert.ok(!reply.text.includes('[DONE]'));
    await expectCharged(user, 0);
  }
  const role = { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] };
  const empty = await streamOf([role, { choices: [], usage: USAGE }]);
  assert.match(empty.reply.text, /"code":"UPSTREAM_PROVIDER_ERROR"/);
  await expectCharged(empty.user, 0);
  const silent = await plainOf({ choices: [{ message: { content: '' }, finish_reason: null }], usage: USAGE });
  assertRefusal(silent.reply, { code: 'UPSTREAM_PROVIDER_ERROR' });
  await expectCharged(silent.user, 0);
});

test('CC-01 a minimal answer is completed to the format', async () => {
  const calls = [
    { id: '', function: { name: 'look', arguments: '{}' } },
    { id: 'own', type: 'function', function: {} },
  ];
  const { user, reply } = await plainOf({
    choices: [
      { message: { content: 'Hi' }, finish_reason: 'stop' },
      { message: { role: 'model', tool_calls: calls }, finish_reason: 'tool_calls' },
    ],
    usage: USAGE,
  });
  const answer = reply.body as Payload;
  const head = headOf(answer, reply.headers.get('x-service-call-id'));
  assert.deepEqual([head['object'], head['model']], ['chat.completion', 'acme.large-1']);
  const madeUp = /"id":"(call_[0-9A-Za-z]{24})"/.exec(reply.text)?.[1];
  assert.ok(madeUp);
  assert.deepEqual(answer, {
    ...head,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'stop' },
      {
        index: 1,
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [
            { id: madeUp, type: 'function', function: { name: 'look', arguments: '{}' } },
            { ...calls[1], function: { arguments: '{}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: USAGE,
  });
  await expectCharged(user, CHARGE);
});

function look(text: string): Payload {
  return { index: 1, function: { name: 'look', arguments: text } };
}

test('CC-13 streamed tool calls are put in order, choice by choice', async () => {
  const delta = (index: number, call: Payload) => ({ index, delta: { tool_calls: [call] }, finish_reason: null });
  const { reply } = await streamOf(
    [
      { choices: [delta(0, look('{}')), delta(1, { ...look(''), id: 'given' })] },
      { choices: [delta(0, look('{"a":')), delta(1, { index: 1, id: 'given', function: { arguments: '{}' } })] },
      { choices: [delta(0, { index: 1, function: { arguments: '1}' } })] },
      { choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'tool_calls' })) },
    ],
    { n: 2 },
  );
  const told = (payloadsOf(reply.text).slice(0, -1) as { choices: { index: number; delta: Payload }[] }[])
    .flatMap(({ choices }) => choices)
    .flatMap(({ index, delta: { tool_calls: calls = [] } }) =>
      (calls as Payload[]).map((call) => [index, call] as const),
    );
  const [first, given, second] = told.map(([, call]) => call['id']);
  assert.ok(first !== second && [first, second].every((id) => String(id).startsWith('call_')));
  assert.deepEqual(told, [
    [0, { index: 0, function: { name: 'look', arguments: '{}' }, id: first, type: 'function' }],
    [1, { index: 0, function: { name: 'look', arguments: '' }, id: given, type: 'function' }],
    [0, { index: 1, function: { name: 'look', arguments: '{"a":' }, id: second, type: 'function' }],
    [1, { index: 0, function: { arguments: '{}' } }],
    [0, { index: 1, function: { arguments: '1}' } }],
  ]);
  assert.equal(given, 'given');
});
