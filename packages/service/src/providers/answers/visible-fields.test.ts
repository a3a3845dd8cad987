import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visibleAnswer, visibleAnswerWith, visibleChoices, visibleUsage } from '#providers/answers/visible-fields.ts';

test('CC-21 an answer of only listed fields passes unchanged', () => {
  const choices = [
    { index: 0, delta: { role: 'assistant', content: 'a', reasoning_content: null }, finish_reason: null },
    {
      index: 1,
      message: { content: [{ type: 'text', text: 'a' }], tool_calls: [{ id: '1', function: { arguments: { a: 1 } } }] },
      logprobs: { content: [{ token: 'a', bytes: [97], top_logprobs: [{ token: 'b', logprob: -1 }] }] },
    },
  ];
  assert.equal(visibleChoices(choices), choices);
  const answer = { id: 'a', object: 'chat.completion', created: 1, choices, system_fingerprint: 'fp' };
  assert.equal(visibleAnswer(answer), answer);
  const usage = { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } };
  assert.equal(visibleUsage(usage), usage);
});

test('CC-21 unlisted fields are left out at every depth', () => {
  const said = { token: 'a', price: 1, logprob: -1 };
  const choices = visibleChoices([
    { cost: 1, index: 0, message: { content: 'a', provider: 'p', refusal: null, tool_calls: [{ id: '1', cost: 1 }] } },
    { index: 1, delta: { content: { hidden: 1 }, reasoning: 'r' }, logprobs: { content: [said], organization: 'o' } },
  ]);
  assert.equal(
    JSON.stringify(choices),
    '[{"index":0,"message":{"content":"a","refusal":null,"tool_calls":[{"id":"1"}]}},' +
      '{"index":1,"delta":{"content":{},"reasoning":"r"},"logprobs":{"content":[{"token":"a","logprob":-1}]}}]',
  );
  assert.deepEqual(visibleUsage({ prompt_tokens: 1, cost: 0.1, cost_details: { a: 1 }, is_byok: false }), {
    prompt_tokens: 1,
  });
  assert.deepEqual(visibleAnswer({ id: { cost: 1 }, provider: 'p', created: 1, usage: { cost: 1 } }), {
    created: 1,
    usage: {},
  });
});

test('CC-21 inherited property names are no fields of the format', () => {
  const odd = JSON.parse('{"constructor":1,"toString":2,"__proto__":{"a":1},"prompt_tokens":3}') as Record<
    string,
    unknown
  >;
  assert.equal(JSON.stringify(visibleUsage(odd)), '{"prompt_tokens":3}');
});

test('CC-21 our fields replace the provider’s in place', () => {
  const answer = JSON.parse(
    '{"choices":[{"cost":1}],"cost":1,"id":"theirs","usage":{"cost":1},"__proto__":{"a":1},"citations":["a"]}',
  ) as Record<string, unknown>;
  assert.equal(
    JSON.stringify(visibleAnswerWith(answer, { id: 'ours', choices: [], model: 'm' })),
    '{"choices":[],"id":"ours","usage":{},"citations":["a"],"model":"m"}',
  );
  assert.equal(answer['id'], 'theirs');
});
