import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyMessagesBody } from '../../../../../../tests/support/any-messages-body.ts';
import { fit, readBody } from '../../../../../../tests/support/read-messages.ts';
import { checkShape } from '#gateway/request/validate-call.ts';
import { PARAMETERS } from '#gateway/wires/messages/request/parameters.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

test('WI-08 a null of any parameter says nothing', () => {
  for (const name of PARAMETERS.keys()) {
    if (name !== 'max_tokens') assert.ok(!(readBody({ [name]: null }) instanceof Refusal), name);
  }
});

test('WI-08 lists of any length are read', () => {
  const count = 130_000;
  const blocks = Array.from({ length: count }, () => ({ type: 'text', text: 'a' }));
  const messages = Array.from({ length: count }, (_, place) => ({
    role: place % 2 === 0 ? 'user' : 'assistant',
    content: 'a',
  }));
  const results = Array.from({ length: count }, () => ({ type: 'tool_result', tool_use_id: 'a', content: 'a' }));
  const uses = Array.from({ length: count }, () => ({ type: 'tool_use', id: 'a', name: 'b', input: {} }));
  const many = [
    { role: 'user', content: blocks },
    { role: 'assistant', content: uses },
    { role: 'user', content: results },
  ];
  assert.ok(!(readBody({ messages: [...many, ...messages] }) instanceof Refusal), 'read');
});

const packed = (json: string) => `purser.${Buffer.from(json).toString('base64url')}`;

test('WI-08 a signature that somebody made up goes no further than a body does', () => {
  for (const json of [
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    '[{"__proto__":{}}]',
    '[1e999]',
    '[{"a":1e999}]',
    'x',
  ]) {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: packed(json) };
    const request = readBody({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] },
      ],
    });
    assert.ok(!(request instanceof Refusal));
    const fitted = request.fit({
      parameter: () => true,
      ownForm: false,
      hasOwnForm: false,
      webSearch: false,
      contextTokens: 200_000,
    });
    assert.ok(!(fitted instanceof Refusal));
    assert.doesNotMatch(JSON.stringify(fitted.request), /reasoning/, json.slice(0, 20));
  }
});

const RUNS = 3_000;

test('WI-08 any body is refused by a field or read into a good request', () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(anyMessagesBody, fc.boolean(), (fields, takesAll) => {
      const fitted = fit(fields, { parameter: () => takesAll });
      if (fitted instanceof Refusal) {
        seen.refused += 1;
        assert.equal(fitted.code, 'BAD_REQUEST');
        assert.notEqual(fitted.detail.param ?? '', '', fitted.message);
        return;
      }
      seen.read += 1;
      assert.equal(checkShape(fitted.request), undefined);
      JSON.stringify(fitted.request);
    }),
    { numRuns: RUNS },
  );
  assert.ok(seen.read > RUNS / 20 && seen.refused > RUNS / 20, JSON.stringify(seen));
});
