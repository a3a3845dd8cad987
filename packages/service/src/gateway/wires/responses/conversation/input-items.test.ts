import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byOf,
  fittedOf,
  messagesOf,
  refusalOf,
  SEALED_IDS,
  toldOf,
} from '../../../../../../../tests/support/read-responses.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const text = (said: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] });
const sealedReasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'x' };
const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'a', output: 'Seen.' };
const reference = (id: string | undefined) => ({ type: 'item_reference', id });
const idOf = (item: JsonObject, by = byOf()) => SEALED_IDS.ofItem(item, by) ?? '';
const asText = (said: string) => ({ role: 'assistant', content: [{ type: 'text', text: said }] });

test('WI-05 a reference is the item that its id carries', () => {
  const input = [
    reference(idOf(text('Yes?'))),
    { role: 'user', content: 'Look.' },
    { id: idOf(sealedReasoning) },
    call,
    output,
  ];
  const [first, , turn] = messagesOf(input) as readonly JsonObject[];
  assert.deepEqual(first, asText('Yes?'));
  assert.deepEqual(turn?.['reasoning_details'], [
    { type: 'reasoning.summary', summary: 'Hm.', index: 0, format: 'openai-responses-v1' },
    { type: 'reasoning.encrypted', data: 'x', index: 0, format: 'openai-responses-v1' },
  ]);
  assert.deepEqual(fittedOf({ input }).native?.['input'], [text('Yes?'), input[1], sealedReasoning, call, output]);
});

test('WI-05 a request with very many ids is refused before they are all tried', () => {
  const ids = Array.from({ length: 4_097 }, (_, place) => reference(`rs_${String(place).padStart(70, 'A')}`));
  assert.match(refusalOf({ input: ids })[1], /more sealed items than a request may have/);
  assert.match(refusalOf({ input: ids.slice(1) })[1], /not known here/);
});

test('WI-05 a carrier has the items of a stream, wherever it is, and is nothing itself', () => {
  const carrier = SEALED_IDS.ofItems({ rs_short: sealedReasoning, msg_short: text('Seen.') }, byOf());
  for (const carried of [reference(carrier), { type: 'reasoning', id: carrier, summary: [] }]) {
    const input = [
      { role: 'user', content: 'Look.' },
      reference('rs_short'),
      reference('rs_short'),
      call,
      output,
      reference('msg_short'),
      carried,
      { role: 'user', content: 'And?' },
    ];
    const messages = messagesOf(input) as readonly JsonObject[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user'],
    );
    const { reasoning_details: thoughts } = messages[1] ?? {};
    assert.ok(Array.isArray(thoughts) && thoughts.length === 2);
    assert.deepEqual(messages[3], asText('Seen.'));
  }
});

test('WI-05 reasoning that comes back without its seal has it in its id', () => {
  const bare = { type: 'reasoning', id: idOf(sealedReasoning), summary: sealedReasoning.summary, content: null };
  assert.deepEqual(fittedOf({ input: [bare, call] }).native?.['input'], [sealedReasoning, call]);
});

test('WI-05 thoughts of other vendors come back as they were, with what belongs to calls', () => {
  const thought = { type: 'reasoning.text', text: 'Hm.', signature: 's', format: 'anthropic-claude-v1', index: 0 };
  const extra = { google: { thought_signature: 'g' } };
  const details = [thought, { type: 'tool_call.extra_content', id: 'a', extra_content: extra }];
  const item = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: SEALED_IDS.ofThoughts(details, byOf()),
  };
  const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content: extra }];
  for (const input of [
    [item, call],
    [call, item],
  ]) {
    assert.deepEqual(messagesOf(input), [
      { role: 'assistant', content: null, tool_calls: calls, reasoning_details: [thought] },
    ]);
  }
  const foreign = byOf({ user: 'ben' });
  assert.deepEqual(messagesOf([item, call], foreign), [
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: calls[0]?.function }] },
  ]);
});

test('WI-05 thoughts without a seal go back to the field they came in, before calls', () => {
  const details = [{ type: 'message.reasoning_content', text: 'Let me see.' }];
  const content = SEALED_IDS.ofThoughts(details, byOf());
  const item = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Let me see.' }] };
  const input = [
    { ...item, encrypted_content: content },
    call,
    output,
    { ...item, encrypted_content: content },
    text('A.'),
  ];
  const [first, , last] = messagesOf(input) as readonly JsonObject[];
  assert.deepEqual(Object.keys(first ?? {}), ['role', 'content', 'tool_calls', 'reasoning_content']);
  assert.equal(first?.['reasoning_content'], 'Let me see.');
  assert.deepEqual(last, asText('A.'));
});

test('WI-05 a reference that nothing can be read from is refused with what to do', () => {
  const id = idOf(text('Yes?'));
  const others = [byOf({ user: 'ben' }), byOf({ app: 'maps' }), byOf({ mode: 'sandbox' })];
  for (const [sent, by] of [
    ...others.map((other) => [id, other] as const),
    [`${id.slice(0, -2)}AA`, byOf()],
    ['msg_67c9fdcecf488190bdd9a0409de3a1ec', byOf()],
    ['', byOf()],
  ] as const) {
    const input = [{ role: 'user', content: 'Hi.' }, reference(sent)];
    const [param, message] = refusalOf({ input }, {}, by);
    assert.equal(param, 'input[1].id');
    assert.match(message, /Send the item whole: most clients do so after `"store": false`/);
  }
  for (const odd of [undefined, null, 7, {}]) {
    assert.equal(refusalOf({ input: [{ type: 'item_reference', id: odd }] })[0], 'input[0].id');
  }
});

test('WI-05 a request cannot have ids open to more than a body may hold', () => {
  const ids = Array.from({ length: 12 }, (_, at) => idOf(text(`${at}`.repeat(1_800_000).slice(0, 1_800_000))));
  assert.ok(ids.join('').length < 200_000);
  const [param, message] = refusalOf({ input: ids.map(reference) });
  assert.deepEqual(
    [param, message],
    ['input', '`input` holds more sealed items than a request may have: send fewer of them.'],
  );
  assert.equal((messagesOf(ids.slice(0, 5).map(reference)) as readonly unknown[]).length, 5);
});

test('WI-05 sealed thoughts are bounded too, and an id opens once', () => {
  const details = [{ type: 'reasoning.text', text: 'a'.repeat(1_500_000), signature: 's' }];
  const content = SEALED_IDS.ofThoughts(details, byOf());
  const thoughts = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'reasoning', encrypted_content: content }));
  assert.equal(refusalOf({ input: [...thoughts(12), call] })[0], 'input');
  assert.equal((messagesOf([...thoughts(5), call]) as readonly unknown[]).length, 1);
  const sealed = {
    type: 'reasoning',
    id: idOf({ ...sealedReasoning, encrypted_content: 'a'.repeat(1_500_000) }),
    summary: [],
  };
  const repeated = fittedOf({ input: [...Array.from({ length: 100 }, () => sealed), call] });
  assert.equal((repeated.native?.['input'] as readonly unknown[] | undefined)?.length, 2, 'an id opens once');
});

test('WI-05 a client that sends ids of streamed items gets a carrier', () => {
  const agent = { userAgent: 'ai-sdk-openai/4.0.118 ai-sdk-provider-utils/5.0.81 node.js/26' };
  for (const [store, userAgent, expected] of [
    [null, agent.userAgent, [true, true]],
    [false, agent.userAgent, [false, false]],
    [null, 'OpenAI/JS 7.59.0', [true, false]],
    [null, 'not-ai-sdkish', [true, false]],
  ] as const) {
    const { isStored, isCarried } = toldOf({ store }, byOf({ userAgent })).sealing;
    assert.deepEqual([isStored, isCarried], expected, userAgent);
  }
  const { sealing } = toldOf({});
  assert.deepEqual(messagesOf([reference(sealing.ofItem(text('Hi.')))]), [asText('Hi.')]);
});

test('WI-05 a picture of ours comes back, and is passed over', () => {
  const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null };
  const carrier = toldOf({}).sealing.ofItems({ ig_1: picture });
  const question = { role: 'user', content: 'And now?' };
  for (const input of [
    [picture, question],
    [reference('ig_1'), reference(carrier), question],
  ]) {
    assert.deepEqual(messagesOf(input), [question]);
  }
});
