// Streams with frames that are no chunks, and with words that are no reasons to finish, over real HTTP. A token costs a micro.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MICRO_A_TOKEN } from '../support/catalogue.ts';
import { payloadsOf } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import { frame, type UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const { upstream, service, app, newUser, callAs } = await setStage({
  checksBooks: true,
  catalogue: (catalogue) => {
    const exact = { ...catalogue.models[0], id: 'acme.exact-1', price: MICRO_A_TOKEN, marginBasisPoints: 0 };
    const { upstream: compatible } = catalogue.providers;
    const providers = { ...catalogue.providers, mistral: { kind: 'mistral', baseUrl: compatible.baseUrl } };
    const models = [...catalogue.models, exact, { ...exact, id: 'acme.mistral-1', provider: 'mistral' }];
    return { ...catalogue, providers, models };
  },
});

const MODELS = ['acme.exact-1', 'acme.mistral-1'];

function says(content: string, reason: string | null = null): string {
  return frame({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content }, finish_reason: reason }],
  });
}

const FINISH = frame({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const REPORT = frame({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: USAGE });
const DONE = frame('[DONE]');
const RESET: UpstreamStep = { destroy: true };

/** One stream of a fresh user, each frame in a write of its own. */
async function stream(model: string, frames: readonly (string | UpstreamStep)[]) {
  const user = await newUser(BALANCE);
  upstream.script({ body: frames.map((one) => (typeof one === 'string' ? { write: one } : one)) });
  const reply = await callAs(user, { model, stream: true }, { headers: { 'x-correlation-id': user } });
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - bill.charged, held: 0, openStreams: 0 });
  const payloads = (reply.status === 200 ? payloadsOf(reply.text) : []) as (
    | string
    | { choices?: { delta: { content?: string }; finish_reason: unknown }[] }
  )[];
  const choices = payloads.flatMap((one) => (typeof one === 'string' || 'error' in one ? [] : (one.choices ?? [])));
  return {
    bill,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasons: choices.map(({ finish_reason: reason }) => reason).filter((reason) => reason !== null),
    isDone: payloads.at(-1) === '[DONE]',
  };
}

const PROGRESS = 'event: vendor.tool.progress\ndata: {"tool":"search","status":"running","error":null}\n\n';
const STATISTICS = frame({ type: 'stats', tps: 41.2 });
/** What comes behind a reason to finish and the usage. */
const TAILS: readonly (readonly [what: string, ...frames: (string | UpstreamStep)[]])[] = [
  ['nothing more', DONE],
  ['[DONE] with spaces', 'data:  [DONE] \n\n'],
  ['a named last event', 'event: done\ndata: {"ok":true}\n\n', DONE],
  ['a named event that is no JSON', 'event: done\ndata: bye\n\n', DONE],
  ['an object of statistics', STATISTICS, DONE],
  ['statistics and no [DONE]', STATISTICS],
  ['an empty data line', 'data:\n\n', DONE],
  ['a word that is no JSON', 'data: bye\n\n'],
  ['a torn last frame', 'data: {"id":"c1","cho'],
  ['a torn last frame and a reset', 'data: {"id":"c1","cho', RESET],
  ['an error of the server’s own', frame({ error: { code: 500, message: 'too late' } })],
  ['an event of an error', 'event: error\ndata: {"message":"too late"}\n\n', DONE],
];

for (const [what, ...tail] of TAILS) {
  test(`CC-11 a stream that lacks nothing is charged in spite of ${what}`, async () => {
    for (const model of MODELS) {
      const { bill, text, reasons, isDone } = await stream(model, [says('A whole answer'), FINISH, REPORT, ...tail]);
      assert.deepEqual([bill.charged, bill.outcome, bill.isEstimated], [15, 'answered', false]);
      assert.deepEqual([text, reasons, isDone], ['A whole answer', ['stop'], true]);
    }
  });
}

test('CC-11 frames of other sorts are passed over before and between chunks', async () => {
  const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
  for (const other of [
    PROGRESS,
    'event: note\ndata: no JSON\n\n',
    ping,
    frame({ type: 'ping' }),
    'data:\n\n',
    'data: \n\n',
    ': a comment\n\n',
  ]) {
    for (const model of MODELS) {
      const frames = [other, says('Half'), other, says(' and half'), other, FINISH, other, REPORT, other, DONE];
      const { bill, text, isDone } = await stream(model, frames);
      assert.deepEqual([bill.charged, text, isDone], [15, 'Half and half', true], other);
    }
  }
});

test('CC-11 an empty error beside choices is none', async () => {
  for (const error of ['', false, null, {}]) {
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }], error },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], error },
    ];
    const { bill, text, isDone } = await stream('acme.exact-1', [...chunks.map(frame), REPORT, DONE]);
    assert.deepEqual([bill.charged, text, isDone], [15, 'Hello', true], JSON.stringify(error));
  }
});

// Clients that join chunks read "stopstop".
test('CC-01 a choice finishes once, for its first reason', async () => {
  const length = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
  for (const [frames, reason] of [
    [[says('Hello'), FINISH, FINISH], 'stop'],
    [[says('Hel', 'stop'), says('lo', 'stop')], 'stop'],
    [[says('Hello'), length, FINISH], 'length'],
  ] as const) {
    const { bill, text, reasons } = await stream('acme.exact-1', [...frames, REPORT, DONE]);
    assert.deepEqual([bill.charged, text, reasons], [15, 'Hello', [reason]]);
  }
});

test('CC-11 a frame that is no chunk still fails a stream that lacks something', async () => {
  const event = 'event: error\ndata: {"message":"no"}\n\n';
  const error = frame({ error: { code: 500, message: 'no' } });
  for (const frames of [
    [STATISTICS],
    ['data: bye\n\n'],
    ['data: {"id":"c1","cho'],
    [error],
    [event],
    [FINISH, error],
  ]) {
    const { bill, isDone } = await stream('acme.exact-1', [says('Half'), ...frames]);
    assert.deepEqual([bill.charged, bill.outcome, isDone], [0, 'failed', false], frames.join(''));
  }
});

test('CC-11 a word that is no reason ends nothing while chunks go on', async () => {
  for (const word of ['null', 'None', 'NULL', 'going on']) {
    for (const model of MODELS) {
      const begun = [says('A long beginning', word), says(' of an answer', word)];
      const broken = await stream(model, [...begun, RESET]);
      assert.deepEqual([broken.bill.charged, broken.bill.outcome, broken.reasons], [0, 'failed', []], word);
      assert.equal(broken.isDone, false);
      const ended = await stream(model, begun);
      assert.deepEqual([ended.bill.charged, ended.reasons, ended.isDone], [0, [], false], word);
      for (const end of [[FINISH, REPORT, DONE], [REPORT, DONE], [FINISH, REPORT], [REPORT]]) {
        const whole = await stream(model, [...begun, ...end]);
        assert.deepEqual([whole.bill.charged, whole.reasons, whole.isDone], [15, ['stop'], true], word);
      }
    }
  }
});

test('CC-11 an unknown word at the end of a stream ends it', async () => {
  for (const end of [[DONE], [], [REPORT], [REPORT, DONE]]) {
    for (const last of [says(' word', 'eos_found'), says('', 'eos_found')]) {
      const { bill, reasons, isDone } = await stream('acme.exact-1', [says('The last'), last, ...end]);
      assert.deepEqual([bill.outcome, reasons, isDone], ['answered', ['stop'], true]);
    }
  }
  const lost = await stream('acme.exact-1', [says('The last word'), says('', 'eos_found'), RESET]);
  assert.deepEqual([lost.bill.outcome, lost.reasons], ['answered', ['stop']]);
});
