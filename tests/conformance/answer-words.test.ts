// Roles, arguments and reasons to finish, as servers of the compatible format send them and as clients can read them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { createGate } from '../support/gate.ts';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { frame } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
const CHARGE = chargeFor({ prompt: 30, completion: 20 });

type Payload = Record<string, unknown>;
interface Choice {
  readonly index: number;
  readonly delta: Payload;
  readonly message: Payload;
  readonly finish_reason: string | null;
}

const { upstream, service, app, newUser, callAs } = await setStage();

async function streamOf(chunks: readonly unknown[], fields: Payload = {}) {
  const user = await newUser(BALANCE);
  upstream.script({ body: [{ write: [...chunks, '[DONE]'].map(frame).join('') }] });
  const reply = await callAs(user, { stream: true, ...fields });
  return { user, reply, choices: () => choicesIn(reply.text) };
}

function choicesIn(text: string): readonly Choice[] {
  return (payloadsOf(text) as { choices?: Choice[] }[]).flatMap(({ choices = [] }) => choices);
}

async function plainOf(choices: readonly unknown[]) {
  const user = await newUser(BALANCE);
  upstream.script({ body: JSON.stringify({ choices, usage: USAGE }) });
  const reply = await callAs(user);
  return { user, reply, choices: () => (reply.body as { choices: Choice[] }).choices };
}

async function expectCharged(user: string, charge: number): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
}

/** Each argument that a server sends for a call without pieces, and what its client reads. */
const ARGUMENTS: readonly (readonly [given: unknown, read: string])[] = [
  [{ zone: 'UTC' }, '{"zone":"UTC"}'],
  [{}, '{}'],
  [null, '{}'],
  [undefined, '{}'],
  ['', '{}'],
  ['{"zone":"UTC"}', '{"zone":"UTC"}'],
  [['UTC'], '["UTC"]'],
  [7, '7'],
];

test('CC-13 arguments are always JSON text', async () => {
  for (const [given, read] of ARGUMENTS) {
    const called = { name: 'now', ...(given !== undefined && { arguments: given }) };
    const call = { index: 0, id: 'a', type: 'function', function: called };
    const about = JSON.stringify(called);
    const message = { role: 'assistant', content: null, tool_calls: [call], function_call: called };
    const plain = await plainOf([{ index: 0, message, finish_reason: 'tool_calls' }]);
    const { tool_calls: calls, function_call: old } = plain.choices()[0]?.message ?? {};
    assert.deepEqual(calls, [{ ...call, function: { name: 'now', arguments: read } }], about);
    assert.deepEqual(old, { name: 'now', arguments: read }, about);
    const delta = { role: 'assistant', tool_calls: [call], function_call: called };
    const end = { index: 0, finish_reason: 'tool_calls' };
    for (const ends of [
      [{ ...end, delta }],
      [
        { index: 0, delta },
        { ...end, delta: {} },
      ],
      [{ index: 0, delta }],
    ]) {
      const { choices } = await streamOf([
        ...ends.map((choice) => ({ choices: [choice] })),
        { choices: [], usage: USAGE },
      ]);
      const told = choices();
      assert.equal(argumentsIn(told, firstTool), read, about);
      assert.equal(
        argumentsIn(told, ({ function_call: one }) => one),
        read,
        about,
      );
      assert.equal(told.at(-1)?.finish_reason, 'tool_calls', about);
    }
  }
});

function firstTool({ tool_calls: calls }: Payload): unknown {
  return (calls as Payload[] | undefined)?.[0]?.['function'];
}

/** The arguments as clients put them together. Each piece must be text. */
function argumentsIn(choices: readonly Choice[], callIn: (delta: Payload) => unknown): string {
  const pieces = choices.map(({ delta }) => callIn(delta)).filter((one) => one !== undefined) as Payload[];
  assert.ok(pieces.length > 0);
  return pieces
    .map(({ arguments: piece }) => (typeof piece === 'string' ? piece : assert.fail(String(piece))))
    .join('');
}

test('CC-13 a call without arguments has them where it is named, chunk by chunk', async () => {
  for (const given of [null, undefined, {}]) {
    const called = { name: 'now', ...(given !== undefined && { arguments: given }) };
    const said = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: called }], function_call: called };
    const gate = createGate();
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const user = await newUser(BALANCE);
    const begun = frame({ choices: [{ index: 0, delta: { content: 'So.' } }] });
    const named = frame({ choices: [{ index: 0, delta: said }] });
    upstream.script({
      body: [{ write: begun + named }, { waitFor: gate.opened }, { write: frame(end) + frame('[DONE]') }],
    });
    const stream = await openStream({ url: service.url, key: app.liveKey, user });
    await stream.until('So.');
    gate.open();
    const deltas = choicesIn(await stream.whole()).map(({ delta }) => delta);
    const whole = { name: 'now', arguments: '{}' };
    const call = { index: 0, id: 'a', type: 'function', function: whole };
    assert.deepEqual(deltas, [{ role: 'assistant', content: 'So.' }, { tool_calls: [call], function_call: whole }, {}]);
  }
});

test('CC-13 a call that is named first gets its arguments once', async () => {
  const pieces = [undefined, '{"a":', null, '1}', { a: 1 }];
  const chunks = pieces.map((piece, place) => {
    const called = { ...(place === 0 && { name: 'look' }), ...(piece !== undefined && { arguments: piece }) };
    return { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: called }] } }] };
  });
  const { choices } = await streamOf([...chunks, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }]);
  assert.equal(argumentsIn(choices(), firstTool), '{"a":1}');
});

test('CC-01 the first delta of each choice names the assistant', async () => {
  for (const role of [undefined, '', null, 'model', 'assistant']) {
    const said = role === undefined ? {} : { role };
    const texts = ['A', 'B', 'C', 'D'].map((content) => ({ ...said, content }));
    const chunks = [0, 1].flatMap((index) => texts.map((delta) => ({ choices: [{ index, delta }] })));
    const ends = [0, 1].map((index) => ({ choices: [{ index, delta: said, finish_reason: 'stop' }] }));
    // The same in one write, whose chunks are not parsed one by one, and with an empty chunk before.
    for (const before of [[], [{ choices: [] }]]) {
      const { choices } = await streamOf([...before, ...chunks, ...ends], { n: 2 });
      for (const index of [0, 1]) {
        const deltas = choices().filter((choice) => choice.index === index);
        const roles = deltas.map(({ delta }) => delta['role']);
        assert.equal(roles[0], 'assistant', String(role));
        assert.ok(
          roles.slice(1).every((one) => one === undefined || one === 'assistant'),
          `${role}: ${roles.join()}`,
        );
        assert.equal(deltas.map(({ delta: { content = '' } }) => content as string).join(''), 'ABCD');
      }
    }
  }
});

/** Words of servers, by what they mean. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  stop: ['stop', 'STOP', 'end_turn', 'eos', 'eos_token', 'stop_sequence', 'COMPLETE', 'never heard of'],
  length: `length MAX_TOKENS max_length ERROR_LIMIT time_limit TIME_LIMIT model_length maxTokens REASON_MAX_LEN
    model_context_window_exceeded context_window_exceeded CONTEXT_LENGTH_EXCEEDED`.split(/\s+/),
  tool_calls: ['tool_calls', 'tool_use', 'TOOL_CALL'],
  function_call: ['function_call'],
  content_filter:
    `content_filter content-filter CONTENT_FILTERED content_filtered SAFETY RECITATION refusal PROHIBITED_CONTENT
    prohibited_content BLOCKLIST SPII IMAGE_SAFETY LANGUAGE MODEL_ARMOR guardrail_intervened`.split(/\s+/),
};
const FAILED = `error MALFORMED_FUNCTION_CALL malformed_function_call OTHER other model_error server_error MODEL_ERROR
  UNEXPECTED_TOOL_CALL FINISH_REASON_UNSPECIFIED insufficient_system_resource`.split(/\s+/);

/** Calls, without which no reason tells of them. */
const CALLS: Readonly<Record<string, Payload>> = {
  tool_calls: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'now', arguments: '{}' } }] },
  function_call: { function_call: { name: 'now', arguments: '{}' } },
};

test('CC-01 a reason that tells of calls stands only beside calls', async () => {
  for (const said of ['tool_calls', 'function_call']) {
    for (const [calls, told] of [
      [{}, 'stop'],
      [{ tool_calls: [] }, 'stop'],
      [CALLS['tool_calls'], 'tool_calls'],
      [CALLS[said], said],
    ] as const) {
      const plain = await plainOf([{ index: 0, finish_reason: said, message: { content: 'x', ...calls } }]);
      const begun = { choices: [{ index: 0, delta: { content: 'x', ...calls } }] };
      const stream = await streamOf([begun, { choices: [{ index: 0, delta: {}, finish_reason: said }], usage: USAGE }]);
      assert.deepEqual(
        [plain, stream].map((one) => one.choices().at(-1)?.finish_reason),
        [told, told],
        said,
      );
    }
  }
});

test('CC-01 an answer that says nothing has an empty text', async () => {
  for (const [message, content] of [
    [{ content: null, reasoning_content: 'Hm.' }, ''],
    [{ reasoning_content: 'Hm.' }, ''],
    [{ content: null, refusal: 'No.' }, null],
    [{ content: null, ...CALLS['tool_calls'] }, null],
    [{ content: null, ...CALLS['function_call'] }, null],
  ] as const) {
    const { choices } = await plainOf([{ index: 0, message, finish_reason: 'length' }]);
    assert.equal(choices()[0]?.message['content'], content, JSON.stringify(message));
  }
});

test('CC-01 any finish reason becomes one of the format’s', async () => {
  for (const [told, words] of Object.entries(REASONS)) {
    for (const said of words) {
      const choice = { index: 0, finish_reason: said };
      const saying = { content: 'x', ...CALLS[told] };
      const stream = await streamOf([{ choices: [{ ...choice, delta: saying }], usage: USAGE }]);
      assert.equal(stream.choices().at(-1)?.finish_reason, told, said);
      await expectCharged(stream.user, CHARGE);
      const plain = await plainOf([{ ...choice, message: saying }]);
      assert.equal(plain.choices()[0]?.finish_reason, told, said);
      await expectCharged(plain.user, CHARGE);
    }
  }
});

test('CC-11 a reason that tells of a failure is one, and free', async () => {
  for (const said of FAILED) {
    const choice = { index: 0, finish_reason: said };
    const stream = await streamOf([{ choices: [{ ...choice, delta: { content: 'x' } }], usage: USAGE }]);
    const plain = await plainOf([{ ...choice, message: { content: 'x' } }]);
    for (const { reply, user } of [stream, plain]) {
      assertRefusal(reply, { code: 'UPSTREAM_PROVIDER_ERROR', type: 'upstream_broken' }, said);
      await expectCharged(user, 0);
    }
  }
});
